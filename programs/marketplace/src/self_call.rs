//! Sends an event as the data of a call from the program to itself. Logs can be truncated, instruction data cannot.
//! Accounts, bytes and receiver are those of Anchor's `emit_cpi!`. That macro is not used because it copies byte by
//! byte, a fifth of the cost of archiving.

use anchor_lang::event::EVENT_IX_TAG_LE;
use anchor_lang::prelude::*;
use anchor_lang::solana_program::instruction::Instruction;
use anchor_lang::solana_program::program::invoke_signed;
use anchor_lang::Event;

/// Seed of the address that signs such calls, the same as in Anchor's `event_cpi`.
const EVENT_AUTHORITY_SEED: &[u8] = b"__event_authority";

/// Send the event. The same instruction must not have moved lamports before.
#[inline(never)]
pub fn call_self<E: Event>(event: &E, authority: &AccountInfo, bump: u8) -> Result<()> {
    let instruction = Instruction {
        program_id: crate::ID,
        accounts: vec![AccountMeta::new_readonly(*authority.key, true)],
        data: [EVENT_IX_TAG_LE, &event.data()].concat(),
    };
    let seeds: &[&[u8]] = &[EVENT_AUTHORITY_SEED, &[bump]];
    invoke_signed(&instruction, std::slice::from_ref(authority), &[seeds]).map_err(Into::into)
}

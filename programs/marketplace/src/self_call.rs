//! An event as the data of a call that the program makes to itself: logs are cut short by whoever fills them first,
//! instruction data never are. Accounts, bytes and receiver are those of Anchor's `emit_cpi!`, which is not used
//! because it copies byte by byte, a fifth of the cost of archiving.

use anchor_lang::event::EVENT_IX_TAG_LE;
use anchor_lang::prelude::*;
use anchor_lang::solana_program::instruction::Instruction;
use anchor_lang::solana_program::program::invoke_signed;
use anchor_lang::Event;

/// Seed of the address that signs such calls, as Anchor's `event_cpi` has it.
const EVENT_AUTHORITY_SEED: &[u8] = b"__event_authority";

/// Room for the longest event, so that it is written once.
const LONGEST_EVENT: usize = 4_096;

/// Send the event. Lamports must not have moved before in the same instruction.
#[inline(never)]
pub fn call_self<E: Event>(event: &E, authority: &AccountInfo, bump: u8) -> Result<()> {
    let mut data = Vec::with_capacity(LONGEST_EVENT);
    data.extend_from_slice(EVENT_IX_TAG_LE);
    data.extend_from_slice(E::DISCRIMINATOR);
    event.serialize(&mut data)?;
    let instruction = Instruction {
        program_id: crate::ID,
        accounts: vec![AccountMeta::new_readonly(*authority.key, true)],
        data,
    };
    let seeds: &[&[u8]] = &[EVENT_AUTHORITY_SEED, &[bump]];
    invoke_signed(&instruction, std::slice::from_ref(authority), &[seeds]).map_err(Into::into)
}

//! Calls of the system and token programs, encoded by hand. Their own encoders need a serialization library that would
//! be a twentieth of this program, and they cost more than the calls do.

use anchor_lang::prelude::*;
use anchor_lang::solana_program::instruction::Instruction;
use anchor_lang::solana_program::program::invoke_signed;

/// How a call uses an account.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Reads,
    Writes,
    /// Signs.
    Asks,
    /// Signs and is written.
    Gives,
}

/// Call a program. A signing account signed the transaction, or is an address of this program with its seeds in
/// `signers`. Empty seeds are ignored.
#[inline(never)]
pub fn call<const N: usize>(
    program: &Pubkey,
    data: &[u8],
    accounts: [(&AccountInfo, Role); N],
    signers: [&[&[u8]]; 2],
) -> Result<()> {
    let metas = accounts.map(|(account, role)| AccountMeta {
        pubkey: *account.key,
        is_signer: matches!(role, Role::Asks | Role::Gives),
        is_writable: matches!(role, Role::Writes | Role::Gives),
    });
    let instruction = Instruction {
        program_id: *program,
        accounts: Vec::from(metas),
        data: data.to_vec(),
    };
    let infos = accounts.map(|(account, _)| account.clone());
    let [first, second] = &signers;
    let signers: &[&[&[u8]]] = match (first.is_empty(), second.is_empty()) {
        (true, true) => &[],
        (true, false) => std::slice::from_ref(second),
        (false, true) => std::slice::from_ref(first),
        (false, false) => &signers,
    };
    invoke_signed(&instruction, &infos, signers).map_err(Into::into)
}

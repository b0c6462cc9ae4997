//! Calls other programs by CPI, for tests only; it is deployed nowhere.
//!
//! The marketplace must treat a program-owned caller, creator or relay authority like any other wallet, and survive
//! several calls in one transaction. The indexer must ignore log lines that only look like the marketplace's. This
//! program makes those cases.

use anchor_lang::prelude::*;
use anchor_lang::solana_program::{
    instruction::Instruction, log::sol_log_data, program::invoke_signed,
};

declare_id!("HpeSYtSP9Z93JaFza7iBsKE2z2uiQ2rN9mymtc9ktipT");

/// First seed of every address this program signs for; the second is chosen by the test.
pub const CALLER_SEED: &[u8] = b"caller";

#[program]
pub mod test_caller {
    use super::*;

    /// Sends `data` to the first remaining account `times` times in a row, with the other remaining accounts
    /// in their order and with their writable and signer flags. The PDA of `["caller", seed]` (an empty seed
    /// gives that of `["caller"]`) signs wherever it is among them. Fails with the callee's error.
    pub fn relay<'info>(
        ctx: Context<'_, '_, '_, 'info, Relay>,
        seed: Vec<u8>,
        data: Vec<u8>,
        times: u8,
    ) -> Result<()> {
        let (target, accounts) =
            ctx.remaining_accounts.split_first().ok_or(ErrorCode::AccountNotEnoughKeys)?;
        let (signer, bump) = Pubkey::find_program_address(&[CALLER_SEED, &seed], ctx.program_id);
        let metas = accounts.iter().map(|account| AccountMeta {
            pubkey: *account.key,
            is_signer: account.is_signer || *account.key == signer,
            is_writable: account.is_writable,
        });
        let instruction = Instruction { program_id: *target.key, accounts: metas.collect(), data };
        for _ in 0..times {
            invoke_signed(&instruction, ctx.remaining_accounts, &[&[CALLER_SEED, &seed, &[bump]]])?;
        }
        Ok(())
    }

    /// Prints `data` as a `Program data:` line, as an event would be, and `line` as a `Program log:` line.
    pub fn print(_ctx: Context<Print>, data: Vec<u8>, line: String) -> Result<()> {
        sol_log_data(&[&data]);
        msg!("{}", line);
        Ok(())
    }
}

/// Everything that `relay` needs is in the remaining accounts: the target program, then the callee's accounts.
#[derive(Accounts)]
pub struct Relay {}

/// `print` reads no account.
#[derive(Accounts)]
pub struct Print {}

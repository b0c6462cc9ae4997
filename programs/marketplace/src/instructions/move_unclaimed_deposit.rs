//! Ends a deposit whose refund its caller's account cannot receive: the money moves to the account of unclaimed refunds,
//! and deposit and vault close. Anyone may call it.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::instructions::move_unclaimed_refund::*;
use crate::instructions::refund_deposit::*;
use crate::tokens;

/// Accounts of `move_unclaimed_deposit`.
#[event_cpi]
#[derive(Accounts)]
pub struct MoveUnclaimedDeposit<'info> {
    pub refund: RefundDeposit<'info>,
    pub to: Unclaimed<'info>,
}

impl MoveUnclaimedDeposit<'_> {
    /// `UNCLAIMED_SECONDS` have passed since anyone could refund it. `Unclaimed` checks the other accounts.
    pub fn validate(&self) -> Result<()> {
        let RefundDeposit { config, deposit, vault, destination, .. } = &self.refund;
        let held = tokens::require_vault(vault, &config.usdc_mint, &deposit.key())?;
        let then = Clock::get()?.unix_timestamp.saturating_sub(UNCLAIMED_SECONDS);
        ensure!(deposit.is_refundable(held, then), MoveTooEarly);
        self.to.validate(self.program.key, config, destination, &deposit.caller)
    }
}

/// Move the vault's balance to the unclaimed refunds, and close the deposit.
pub fn move_unclaimed_deposit_handler(ctx: Context<MoveUnclaimedDeposit>) -> Result<()> {
    let accounts = ctx.accounts;
    let unclaimed = MoveOfRefund {
        to: &mut accounts.to,
        event_authority: &accounts.event_authority,
        event_authority_bump: ctx.bumps.event_authority,
    };
    accounts.refund.refund(Some(unclaimed))
}

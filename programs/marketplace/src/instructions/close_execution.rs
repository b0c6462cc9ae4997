//! Gives a refunded execution's rent back to who paid it, a week after its open. Anyone may call it.

use anchor_lang::prelude::*;

use crate::addresses::require_at_home;
use crate::errors::MarketplaceError;
use crate::events::ExecutionClosed;
use crate::guard::fail;
use crate::state::ExecutionRecord;

/// Accounts of `close_execution`.
#[derive(Accounts)]
pub struct CloseExecution<'info> {
    #[account(mut,
        close = rent_sponsor,
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor))]
    pub record: Box<Account<'info, ExecutionRecord>>,
    /// CHECK: the record's rent sponsor by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
}

impl CloseExecution<'_> {
    /// Refunded, and a week since its open; all else by the constraints.
    pub fn validate(&self) -> Result<()> {
        require_at_home(&self.record)?;
        self.record.require_closable(Clock::get()?.unix_timestamp)
    }
}

/// Say so; the account is closed on the way out.
pub fn close_execution_handler(ctx: Context<CloseExecution>) -> Result<()> {
    let record = &ctx.accounts.record;
    emit!(ExecutionClosed {
        record: record.key(),
        execution_id: record.execution_id,
        listing: record.listing,
        caller: record.caller,
    });
    Ok(())
}

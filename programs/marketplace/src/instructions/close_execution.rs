//! Gives an ended execution's rent back to who lent it: a refunded one's after three days, a paid one's that nobody
//! archived a year after its window. Anyone may call it.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::ExecutionClosed;
use crate::guard::fail;
use crate::packing::emit;
use crate::state::ExecutionRecord;

/// Accounts of `close_execution`.
#[derive(Accounts)]
pub struct CloseExecution<'info> {
    #[account(
        mut,
        seeds = [EXECUTION_SEED, record.execution_id.as_ref()],
        bump = record.bump,
        close = rent_sponsor,
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    /// CHECK: the record's rent sponsor by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
}

impl CloseExecution<'_> {
    /// It ended long enough ago; all else by the constraints.
    pub fn validate(&self) -> Result<()> {
        self.record.require_closable(Clock::get()?.unix_timestamp)
    }
}

/// Say so; the account is closed on the way out.
pub fn close_execution_handler(ctx: Context<CloseExecution>) -> Result<()> {
    let record = &ctx.accounts.record;
    emit(&ExecutionClosed {
        record: record.key(),
        execution_id: record.execution_id,
        listing: record.listing,
        caller: record.caller,
    })
}

//! Closes the record of an ended execution and returns its rent: a refunded one from an hour after its open, a paid one
//! that nobody archived a year after its dispute window. Anyone may call it.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::ExecutionClosed;
use crate::guard::fail;
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
    /// CHECK: the record's rent sponsor, by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
}

impl CloseExecution<'_> {
    /// The execution ended long enough ago; the constraints check the rest.
    pub fn validate(&self) -> Result<()> {
        self.record.require_closable(Clock::get()?.unix_timestamp)
    }
}

/// Emit the event. Anchor closes the account when the instruction ends.
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

//! Closes an ended dispute 30 days after its outcome, and returns its rent to the account that
//! paid it. Anyone may call it. The record is not needed, because it may be closed by then.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::DisputeClosed;
use crate::guard::fail;
use crate::state::Dispute;

/// Accounts of `close_dispute`.
#[derive(Accounts)]
pub struct CloseDispute<'info> {
    #[account(
        mut,
        seeds = [DISPUTE_SEED, dispute.record.as_ref()],
        bump = dispute.bump,
        close = rent_sponsor,
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub dispute: Box<Account<'info, Dispute>>,
    /// CHECK: the account that paid rent and bond, by has_one; gets the rent, and any part of the bond not paid out.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
}

impl CloseDispute<'_> {
    /// The dispute ended long enough ago and owes nothing; the constraints check the rest.
    pub fn validate(&self) -> Result<()> {
        self.dispute.require_closable(Clock::get()?.unix_timestamp)
    }
}

/// Emit the event. Anchor closes the account when the instruction ends.
pub fn close_dispute_handler(ctx: Context<CloseDispute>) -> Result<()> {
    let dispute = &ctx.accounts.dispute;
    emit!(DisputeClosed { dispute: dispute.key(), record: dispute.record });
    Ok(())
}

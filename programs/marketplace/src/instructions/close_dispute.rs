//! Gives an ended dispute's rent back to who paid it, 30 days after its outcome. Anyone may call it; the record, which
//! may be gone by then, is not needed.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::DisputeClosed;
use crate::guard::fail;
use crate::packing::emit;
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
    /// CHECK: who paid rent and bond, by has_one; only receives lamports, with them what of the bond could not be paid.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
}

impl CloseDispute<'_> {
    /// It ended long enough ago and owes nothing; all else by the constraints.
    pub fn validate(&self) -> Result<()> {
        self.dispute.require_closable(Clock::get()?.unix_timestamp)
    }
}

/// Say so; the account is closed on the way out.
pub fn close_dispute_handler(ctx: Context<CloseDispute>) -> Result<()> {
    let dispute = &ctx.accounts.dispute;
    emit(&DisputeClosed {
        dispute: dispute.key(),
        record: dispute.record,
    })
}

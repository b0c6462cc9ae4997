//! Ends a dispute that the admin did not decide for 30 days. Anyone may call it.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::DisputeLapsed;
use crate::guard::fail;
use crate::state::{pay_bond, take_bond, CreatorCollateral, Dispute, DisputeOutcome};

/// Accounts of `lapse_dispute`.
#[derive(Accounts)]
pub struct LapseDispute<'info> {
    #[account(
        mut,
        seeds = [DISPUTE_SEED, dispute.record.as_ref()],
        bump = dispute.bump,
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub dispute: Box<Account<'info, Dispute>>,
    #[account(mut, seeds = [COLLATERAL_SEED, dispute.listing.as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// CHECK: the account that paid the bond, by has_one; gets it back.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
}

/// End the dispute without a decision. The bond goes back, and the collateral no longer counts it as open.
pub fn lapse_dispute_handler(ctx: Context<LapseDispute>) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    accounts.dispute.end(DisputeOutcome::Lapsed, [0; 32], now)?;
    accounts.collateral.end_dispute()?;
    accounts.collateral.book_invariant()?;
    let bond = take_bond(&mut accounts.dispute, &accounts.rent_sponsor)?;
    accounts.dispute.invariant()?;
    let dispute = &accounts.dispute;
    pay_bond(dispute, &accounts.rent_sponsor, bond)?;
    emit!(DisputeLapsed {
        dispute: dispute.key(),
        record: dispute.record,
        execution_id: dispute.execution_id,
        listing: dispute.listing,
        bond,
        bond_to: dispute.rent_sponsor,
        resolved_at: now,
    });
    Ok(())
}

//! Cancels a pending change, even one that is already due, and returns its rent.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::ChangeCancelled;
use crate::guard::fail;
use crate::state::{Config, PendingChange};

/// Accounts of `cancel_change`.
#[derive(Accounts)]
pub struct CancelChange<'info> {
    /// The admin or the guardian, by the subject of the change; anyone if it can never be applied any more.
    pub authority: Signer<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [CHANGE_SEED, &change.change_id.to_le_bytes()],
        bump = change.bump,
        close = rent_sponsor,
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub change: Box<Account<'info, PendingChange>>,
    /// CHECK: the account that paid the change's rent, by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
}

impl CancelChange<'_> {
    /// authority can cancel this change; the constraints check the rest.
    pub fn validate(&self) -> Result<()> {
        let now = Clock::get()?.unix_timestamp;
        self.change.require_cancellable(&self.config, self.authority.key, now)
    }
}

/// Emit the event. Anchor closes the account when the instruction ends.
pub fn cancel_change_handler(ctx: Context<CancelChange>) -> Result<()> {
    emit!(ChangeCancelled {
        change: ctx.accounts.change.key(),
        authority: ctx.accounts.authority.key(),
    });
    Ok(())
}

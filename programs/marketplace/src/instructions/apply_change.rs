//! Applies a pending change of settings or guardian that is due. Anyone may call it. A change of admin needs
//! `accept_admin` instead.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::{ChangeApplied, ConfigSettings};
use crate::guard::fail;
use crate::state::{Config, PendingChange};

/// Accounts of `apply_change`.
#[derive(Accounts)]
pub struct ApplyChange<'info> {
    #[account(mut, address = CONFIG_ADDRESS)]
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

impl ApplyChange<'_> {
    /// The change is due, and nobody cancelled it; the constraints check the rest.
    pub fn validate(&self) -> Result<()> {
        let now = Clock::get()?.unix_timestamp;
        self.change.require_applicable(&self.config, now)
    }
}

/// Apply the change. Anchor closes its account when the instruction ends.
pub fn apply_change_handler(ctx: Context<ApplyChange>) -> Result<()> {
    let config = &mut ctx.accounts.config;
    let change = &ctx.accounts.change;
    config.apply(&change.details)?;
    emit!(ChangeApplied {
        change: change.key(),
        config: config.key(),
        settings: ConfigSettings::of(config),
        relay_authorities: config.used_relay_authorities().to_vec(),
        guardian: config.guardian,
    });
    Ok(())
}

//! Second step of a change of admin: the proposed key accepts with its own signature, so a mistyped key cannot lock
//! everybody out.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::AdminChanged;
use crate::guard::fail;
use crate::state::{Config, PendingChange};

/// Accounts of `accept_admin`.
#[derive(Accounts)]
pub struct AcceptAdmin<'info> {
    /// The key that the change proposes as admin.
    pub next_admin: Signer<'info>,
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

impl AcceptAdmin<'_> {
    /// next_admin is the proposed admin; the change is due; the constraints check the rest.
    pub fn validate(&self) -> Result<()> {
        ensure!(self.change.details.admin == Some(self.next_admin.key()), NotNextAdmin);
        let now = Clock::get()?.unix_timestamp;
        self.change.require_applicable(&self.config, now)
    }
}

/// Make the proposed key the admin, and cancel all other pending changes. Anchor closes the change's account when the
/// instruction ends.
pub fn accept_admin_handler(ctx: Context<AcceptAdmin>) -> Result<()> {
    let config = &mut ctx.accounts.config;
    config.accept_admin(ctx.accounts.next_admin.key(), Clock::get()?.unix_timestamp);
    emit!(AdminChanged {
        config: config.key(),
        change: ctx.accounts.change.key(),
        admin: config.admin,
        admin_since: config.admin_since,
        changes_valid_from: config.changes_valid_from,
    });
    Ok(())
}

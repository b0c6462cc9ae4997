//! Cancels all pending changes of settings at once: the first response if somebody else may have proposed some of them.
//! Pending changes of admin and guardian stay, because a thief of one key could otherwise stop its replacement.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::events::ChangesCancelled;
use crate::state::Config;

/// Accounts of `cancel_all_changes`.
#[derive(Accounts)]
pub struct CancelAllChanges<'info> {
    /// The guardian or the admin.
    pub authority: Signer<'info>,
    #[account(mut, address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
}

impl CancelAllChanges<'_> {
    /// authority is the guardian or the admin.
    pub fn validate(&self) -> Result<()> {
        self.config.require_guardian_or_admin(self.authority.key)
    }
}

/// Let only changes that are proposed from the next second on be applied. The cancelled accounts stay until anyone
/// closes them with `cancel_change`.
pub fn cancel_all_changes_handler(ctx: Context<CancelAllChanges>) -> Result<()> {
    let config = &mut ctx.accounts.config;
    config.changes_valid_from = Clock::get()?.unix_timestamp;
    emit!(ChangesCancelled {
        config: config.key(),
        authority: ctx.accounts.authority.key(),
        changes_valid_from: config.changes_valid_from,
    });
    Ok(())
}

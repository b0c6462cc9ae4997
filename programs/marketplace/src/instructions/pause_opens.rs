//! Pauses all new executions immediately: the guardian's first response to an incident. Only the admin can resume.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::events::{ConfigSettings, ConfigUpdated};
use crate::packing::emit;
use crate::state::Config;

/// Accounts of `pause_opens`.
#[derive(Accounts)]
pub struct PauseOpens<'info> {
    /// The guardian or the admin.
    pub authority: Signer<'info>,
    #[account(mut, address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
}

impl PauseOpens<'_> {
    /// authority is the guardian or the admin.
    pub fn validate(&self) -> Result<()> {
        self.config.require_guardian_or_admin(self.authority.key)
    }
}

/// Pause. If opens are paused already, nothing changes.
pub fn pause_opens_handler(ctx: Context<PauseOpens>) -> Result<()> {
    let config = &mut ctx.accounts.config;
    config.opens_paused = true;
    emit(&ConfigUpdated {
        config: config.key(),
        settings: ConfigSettings::of(config),
    })
}

//! Changes settings immediately, each within its bounds. Open executions keep the settings
//! of their open. Some changes must be proposed instead if `admin_delay_seconds` is not 0.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::{ConfigSettings, ConfigUpdated};
use crate::guard::fail;
use crate::state::Config;
pub use crate::state::SettingsChange;

/// Accounts of `update_config`.
#[derive(Accounts)]
pub struct UpdateConfig<'info> {
    /// The admin.
    pub admin: Signer<'info>,
    #[account(mut, address = CONFIG_ADDRESS, has_one = admin @ fail(MarketplaceError::NotAdmin))]
    pub config: Box<Account<'info, Config>>,
}

/// Apply the given settings, and check all settings. Fails if the change must be proposed.
pub fn update_config_handler(ctx: Context<UpdateConfig>, args: SettingsChange) -> Result<()> {
    let config = &mut ctx.accounts.config;
    let before = Box::new(Config::clone(config));
    config.change_settings(&args)?;
    before.require_immediate(before.is_widened_by(config))?;
    emit!(ConfigUpdated { config: config.key(), settings: ConfigSettings::of(config) });
    Ok(())
}

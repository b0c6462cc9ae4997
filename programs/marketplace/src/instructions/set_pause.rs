//! Sets or lifts the signer's own pause at once. The guardian's pause is its first response to an incident, above all to
//! a stolen admin key: the admin cannot lift it at once, only by a change that waits for `admin_delay_seconds`. Without a
//! guardian, such a change is the only way to lift it.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::events::{ConfigSettings, ConfigUpdated};
use crate::state::Config;

/// Arguments of `set_pause`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct SetPauseArgs {
    /// True sets the signer's pause, false lifts it.
    pub is_paused: bool,
}

/// Accounts of `set_pause`.
#[derive(Accounts)]
pub struct SetPause<'info> {
    /// The guardian or the admin.
    pub authority: Signer<'info>,
    #[account(mut, address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
}

/// Set the pause of the signer's role. The guardian's pause, also a repeated one, cancels all pending changes of settings.
pub fn set_pause_handler(ctx: Context<SetPause>, args: SetPauseArgs) -> Result<()> {
    let config = &mut ctx.accounts.config;
    let now = Clock::get()?.unix_timestamp;
    config.set_pause(ctx.accounts.authority.key, args.is_paused, now)?;
    emit!(ConfigUpdated { config: config.key(), settings: ConfigSettings::of(config) });
    Ok(())
}

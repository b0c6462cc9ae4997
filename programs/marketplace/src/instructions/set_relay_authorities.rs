//! Replaces the relay authorities immediately. If `admin_delay_seconds` is not 0, this can only remove keys; a key is
//! added with `propose_change`.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::RelayAuthoritiesChanged;
use crate::guard::fail;
use crate::packing::emit;
use crate::state::Config;

/// Arguments of `set_relay_authorities`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct SetRelayAuthoritiesArgs {
    /// The keys that can settle and refund any execution, and open for API keys, from now on: 1 to 8 distinct keys.
    pub relay_authorities: Vec<Pubkey>,
}

/// Accounts of `set_relay_authorities`.
#[derive(Accounts)]
pub struct SetRelayAuthorities<'info> {
    /// The admin.
    pub admin: Signer<'info>,
    #[account(mut, address = CONFIG_ADDRESS, has_one = admin @ fail(MarketplaceError::NotAdmin))]
    pub config: Box<Account<'info, Config>>,
}

/// Replace the relay authorities.
pub fn set_relay_authorities_handler(
    ctx: Context<SetRelayAuthorities>,
    args: SetRelayAuthoritiesArgs,
) -> Result<()> {
    let config = &mut ctx.accounts.config;
    let adds = |key| !config.is_relay_authority(key);
    config.require_immediate(args.relay_authorities.iter().any(adds))?;
    config.set_relay_authorities(&args.relay_authorities)?;
    emit(&RelayAuthoritiesChanged {
        config: config.key(),
        relay_authorities: args.relay_authorities,
    })
}

//! Gives the relay's part to another key, at once: what to do first when the present one may be stolen.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::RelayAuthorityChanged;
use crate::guard::fail;
use crate::state::Config;

/// Arguments of `set_relay_authority`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct SetRelayAuthorityArgs {
    /// Who signs settles, and opens for API keys, from now on.
    pub relay_authority: Pubkey,
}

/// Accounts of `set_relay_authority`.
#[derive(Accounts)]
pub struct SetRelayAuthority<'info> {
    /// The admin.
    pub admin: Signer<'info>,
    #[account(mut, address = CONFIG_ADDRESS, has_one = admin @ fail(MarketplaceError::NotAdmin))]
    pub config: Box<Account<'info, Config>>,
}

impl SetRelayAuthority<'_> {
    /// The new key is one; all else by the constraints.
    pub fn validate(&self, args: &SetRelayAuthorityArgs) -> Result<()> {
        ensure!(
            args.relay_authority != Pubkey::default(),
            MarketplaceError::InvalidAuthority
        );
        Ok(())
    }
}

/// Hand the part over.
pub fn set_relay_authority_handler(
    ctx: Context<SetRelayAuthority>,
    args: SetRelayAuthorityArgs,
) -> Result<()> {
    let config = &mut ctx.accounts.config;
    config.relay_authority = args.relay_authority;
    emit!(RelayAuthorityChanged {
        config: config.key(),
        relay_authority: config.relay_authority,
    });
    Ok(())
}

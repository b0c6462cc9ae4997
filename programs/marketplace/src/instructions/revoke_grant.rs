//! Ends a key's spending right for good. The wallet needs nobody's cooperation for it.

use anchor_lang::prelude::*;

use crate::addresses::require_at_home;
use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::GrantRevoked;
use crate::state::{Config, KeyGrant};

/// Accounts of `revoke_grant`.
#[derive(Accounts)]
pub struct RevokeGrant<'info> {
    /// The grant's wallet, or the relay authority.
    pub authority: Signer<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(mut)]
    pub grant: Box<Account<'info, KeyGrant>>,
}

impl RevokeGrant<'_> {
    /// authority is the wallet or the relay authority; grant is at its address.
    pub fn validate(&self) -> Result<()> {
        require_at_home(&self.grant)?;
        let authority = self.authority.key();
        ensure!(
            authority == self.grant.wallet || authority == self.config.relay_authority,
            MarketplaceError::NotGrantAuthority
        );
        Ok(())
    }
}

/// Revoke it.
pub fn revoke_grant_handler(ctx: Context<RevokeGrant>) -> Result<()> {
    let grant = &mut ctx.accounts.grant;
    grant.revoke()?;
    emit!(GrantRevoked {
        grant: grant.key(),
        wallet: grant.wallet,
        key_id: grant.key_id
    });
    Ok(())
}

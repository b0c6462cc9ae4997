//! Revokes a key's spending right permanently. The wallet can do this without the relay.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::events::GrantRevoked;
use crate::state::{Config, KeyGrant};

/// Accounts of `revoke_grant`.
#[derive(Accounts)]
pub struct RevokeGrant<'info> {
    /// The grant's wallet, or a relay authority.
    pub authority: Signer<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(mut, seeds = [GRANT_SEED, grant.wallet.as_ref(), grant.key_id.as_ref()], bump = grant.bump)]
    pub grant: Box<Account<'info, KeyGrant>>,
}

impl RevokeGrant<'_> {
    /// authority is the wallet or a relay authority; the constraints check the rest.
    pub fn validate(&self) -> Result<()> {
        let authority = self.authority.key();
        ensure!(
            authority == self.grant.wallet || self.config.is_relay_authority(&authority),
            NotGrantAuthority
        );
        Ok(())
    }
}

/// Revoke it.
pub fn revoke_grant_handler(ctx: Context<RevokeGrant>) -> Result<()> {
    let grant = &mut ctx.accounts.grant;
    grant.revoke()?;
    emit!(GrantRevoked { grant: grant.key(), wallet: grant.wallet, key_id: grant.key_id });
    Ok(())
}

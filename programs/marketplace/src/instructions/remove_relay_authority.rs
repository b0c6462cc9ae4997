//! Removes one relay authority immediately: the first response if its key may be stolen. It also cancels all pending
//! changes of settings, because an earlier proposal could add the key again.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::events::RelayAuthorityRemoved;
use crate::state::Config;

/// Arguments of `remove_relay_authority`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct RemoveRelayAuthorityArgs {
    /// The key to remove. The last one can be removed too; then nothing is settled until another is added.
    pub relay_authority: Pubkey,
}

/// Accounts of `remove_relay_authority`.
#[derive(Accounts)]
pub struct RemoveRelayAuthority<'info> {
    /// The guardian or the admin.
    pub authority: Signer<'info>,
    #[account(mut, address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
}

impl RemoveRelayAuthority<'_> {
    /// authority is the guardian or the admin.
    pub fn validate(&self, _args: &RemoveRelayAuthorityArgs) -> Result<()> {
        self.config.require_guardian_or_admin(self.authority.key)
    }
}

/// Remove the key.
pub fn remove_relay_authority_handler(
    ctx: Context<RemoveRelayAuthority>,
    args: RemoveRelayAuthorityArgs,
) -> Result<()> {
    let config = &mut ctx.accounts.config;
    config.remove_relay_authority(&args.relay_authority, Clock::get()?.unix_timestamp)?;
    emit!(RelayAuthorityRemoved {
        config: config.key(),
        relay_authority: args.relay_authority,
        relay_authorities: config.used_relay_authorities().to_vec(),
        changes_valid_from: config.changes_valid_from,
    });
    Ok(())
}

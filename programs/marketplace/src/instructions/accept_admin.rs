//! Second step of a change of admin: the proposed admin takes over.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::AdminChanged;
use crate::guard::fail;
use crate::packing::emit;
use crate::state::Config;

/// Accounts of `accept_admin`.
#[derive(Accounts)]
pub struct AcceptAdmin<'info> {
    /// The proposed admin. The zero key, which means no proposal, cannot sign.
    pub pending_admin: Signer<'info>,
    #[account(mut, address = CONFIG_ADDRESS, has_one = pending_admin @ fail(MarketplaceError::NotPendingAdmin))]
    pub config: Box<Account<'info, Config>>,
}

/// Make the proposed admin the admin, and clear the proposal.
pub fn accept_admin_handler(ctx: Context<AcceptAdmin>) -> Result<()> {
    let config = &mut ctx.accounts.config;
    config.admin = std::mem::take(&mut config.pending_admin);
    emit(&AdminChanged {
        config: config.key(),
        admin: config.admin,
    })
}

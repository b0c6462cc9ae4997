//! First step of a change of admin: nothing changes until the proposed admin accepts, so a mistyped key cannot lock
//! everybody out. If `admin_delay_seconds` is not 0, this can only withdraw a proposal; a new admin is proposed with
//! `propose_change`.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::AdminProposed;
use crate::guard::fail;
use crate::packing::emit;
use crate::state::Config;

/// Arguments of `propose_admin`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct ProposeAdminArgs {
    /// The key that can become admin by accepting; the zero key withdraws the proposal.
    pub pending_admin: Pubkey,
}

/// Accounts of `propose_admin`.
#[derive(Accounts)]
pub struct ProposeAdmin<'info> {
    /// The admin.
    pub admin: Signer<'info>,
    #[account(mut, address = CONFIG_ADDRESS, has_one = admin @ fail(MarketplaceError::NotAdmin))]
    pub config: Box<Account<'info, Config>>,
}

/// Store the proposal in place of any other.
pub fn propose_admin_handler(ctx: Context<ProposeAdmin>, args: ProposeAdminArgs) -> Result<()> {
    let config = &mut ctx.accounts.config;
    config.require_immediate(args.pending_admin != Pubkey::default())?;
    config.pending_admin = args.pending_admin;
    emit(&AdminProposed {
        config: config.key(),
        admin: config.admin,
        pending_admin: config.pending_admin,
    })
}

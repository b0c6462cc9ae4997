//! Changes the limits of a key's right. Past spending still counts.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::GrantUpdated;
use crate::guard::fail;
use crate::state::{GrantLimits, KeyGrant};

/// Arguments of `update_grant`: all limits, also unchanged ones.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct UpdateGrantArgs {
    /// The new caps and expiry.
    pub limits: GrantLimits,
}

/// Accounts of `update_grant`.
#[derive(Accounts)]
pub struct UpdateGrant<'info> {
    /// The grant's wallet.
    pub wallet: Signer<'info>,
    #[account(
        mut,
        seeds = [GRANT_SEED, grant.wallet.as_ref(), grant.key_id.as_ref()],
        bump = grant.bump,
        has_one = wallet @ fail(MarketplaceError::NotGrantWallet)
    )]
    pub grant: Box<Account<'info, KeyGrant>>,
}

/// Replace the limits, which `set_limits` checks.
pub fn update_grant_handler(ctx: Context<UpdateGrant>, args: UpdateGrantArgs) -> Result<()> {
    let grant = &mut ctx.accounts.grant;
    grant.set_limits(&args.limits, Clock::get()?.unix_timestamp)?;
    emit!(GrantUpdated {
        grant: grant.key(),
        wallet: grant.wallet,
        key_id: grant.key_id,
        per_execution_max: grant.per_execution_max,
        period_max: grant.period_max,
        total_max: grant.total_max,
        period_seconds: grant.period_seconds,
        max_gas_lamports: grant.max_gas_lamports,
        expires_at: grant.expires_at,
        period_start: grant.period_start,
        period_spent: grant.period_spent,
    });
    Ok(())
}

//! Gives an API key a spending right over a wallet, with caps that the chain enforces.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::events::GrantCreated;
use crate::state::{GrantLimits, KeyGrant};

/// Arguments of `create_grant`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct CreateGrantArgs {
    /// First 16 bytes of SHA-256 of the whole API key.
    pub key_id: [u8; 16],
    /// Caps and end of the right.
    pub limits: GrantLimits,
}

/// Accounts of `create_grant`.
#[derive(Accounts)]
#[instruction(args: CreateGrantArgs)]
pub struct CreateGrant<'info> {
    /// The wallet whose USDC the key may spend.
    pub wallet: Signer<'info>,
    /// Pays the grant's rent.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// The grant, made here.
    #[account(
        init,
        payer = payer,
        space = 8 + KeyGrant::INIT_SPACE,
        seeds = [GRANT_SEED, wallet.key().as_ref(), args.key_id.as_ref()],
        bump
    )]
    pub grant: Box<Account<'info, KeyGrant>>,
    pub system_program: Program<'info, System>,
}

impl CreateGrant<'_> {
    /// wallet signs for itself; grant is new at its address; limits are checked against the clock.
    pub fn validate(&self, args: &CreateGrantArgs) -> Result<()> {
        args.limits.validate(Clock::get()?.unix_timestamp)
    }
}

/// Write the right.
pub fn create_grant_handler(ctx: Context<CreateGrant>, args: CreateGrantArgs) -> Result<()> {
    let now = Clock::get()?.unix_timestamp;
    let limits = args.limits;
    let wallet = ctx.accounts.wallet.key();
    let grant = &mut ctx.accounts.grant;
    grant.set_inner(KeyGrant {
        version: ACCOUNT_VERSION,
        revoked: false,
        bump: ctx.bumps.grant,
        wallet,
        key_id: args.key_id,
        per_execution_max: limits.per_execution_max,
        period_max: limits.period_max,
        total_max: limits.total_max,
        period_seconds: limits.period_seconds,
        expires_at: limits.expires_at,
        created_at: now,
        period_start: now,
        period_spent: 0,
        total_spent: 0,
        execution_count: 0,
    });
    grant.invariant()?;
    emit!(GrantCreated {
        grant: grant.key(),
        wallet,
        key_id: args.key_id,
        per_execution_max: limits.per_execution_max,
        period_max: limits.period_max,
        total_max: limits.total_max,
        period_seconds: limits.period_seconds,
        expires_at: limits.expires_at,
        created_at: now,
    });
    Ok(())
}

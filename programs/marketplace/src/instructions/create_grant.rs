//! Gives an API key a spending right over a wallet, with caps that the chain enforces.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::space_of;
use crate::events::GrantCreated;
use crate::state::{Config, GrantLimits, KeyGrant};
use crate::tokens;

/// Arguments of `create_grant`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct CreateGrantArgs {
    /// First 16 bytes of SHA-256 of the whole API key.
    pub key_id: [u8; 16],
    /// Caps and expiry of the right.
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
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    /// The new grant.
    #[account(
        init,
        payer = payer,
        space = space_of::<KeyGrant>(),
        seeds = [GRANT_SEED, wallet.key().as_ref(), args.key_id.as_ref()],
        bump
    )]
    pub grant: Box<Account<'info, KeyGrant>>,
    pub system_program: Program<'info, System>,
}

impl CreateGrant<'_> {
    /// The limits are checked against the clock; the constraints check the rest.
    pub fn validate(&self, args: &CreateGrantArgs) -> Result<()> {
        ensure!(args.key_id != [0; 16], InvalidKeyId);
        args.limits.validate(Clock::get()?.unix_timestamp)
    }
}

/// Create the grant.
pub fn create_grant_handler(ctx: Context<CreateGrant>, args: CreateGrantArgs) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    let limits = args.limits;
    let wallet = accounts.wallet.key();
    let spender = Pubkey::find_program_address(&[SPENDER_SEED, wallet.as_ref()], &crate::ID);
    let source = Pubkey::find_program_address(
        &tokens::associated_seeds(&wallet, &accounts.config.usdc_mint),
        &anchor_spl::associated_token::ID,
    );
    accounts.grant.set_inner(KeyGrant {
        version: ACCOUNT_VERSION,
        revoked: false,
        bump: ctx.bumps.grant,
        spender_bump: spender.1,
        source_bump: source.1,
        wallet,
        key_id: args.key_id,
        rent_sponsor: accounts.payer.key(),
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
        last_opened_at: 0,
        max_gas_lamports: limits.max_gas_lamports,
        reserved: [0; 16],
    });
    accounts.grant.invariant()?;
    emit!(GrantCreated {
        grant: accounts.grant.key(),
        wallet,
        key_id: args.key_id,
        per_execution_max: limits.per_execution_max,
        period_max: limits.period_max,
        total_max: limits.total_max,
        period_seconds: limits.period_seconds,
        max_gas_lamports: limits.max_gas_lamports,
        expires_at: limits.expires_at,
        created_at: now,
        rent_sponsor: accounts.payer.key(),
    });
    Ok(())
}

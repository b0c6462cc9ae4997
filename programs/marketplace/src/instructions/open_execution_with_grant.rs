//! Funds an execution's escrow on an API key's behalf: the relay signs, the grant's caps decide, and the
//! wallet's `Spender` delegate moves the price.

use anchor_lang::prelude::*;
use anchor_spl::token::{self, Mint, Token, TokenAccount, Transfer};

use crate::constants::*;
use crate::creation::create_token_account;
use crate::errors::MarketplaceError;
use crate::instructions::open_execution::*;
use crate::state::{AgentListing, Config, CreatorCollateral, ExecutionRecord, KeyGrant};

/// Accounts of `open_execution_with_grant`.
#[derive(Accounts)]
#[instruction(args: OpenExecutionArgs)]
pub struct OpenExecutionWithGrant<'info> {
    pub relay_authority: Signer<'info>,
    /// Pays the rent, and gets it back.
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(
        seeds = [CONFIG_SEED],
        bump = config.bump,
        has_one = relay_authority @ MarketplaceError::NotRelayAuthority,
        has_one = usdc_mint @ MarketplaceError::WrongMint
    )]
    pub config: Box<Account<'info, Config>>,
    #[account(
        seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()],
        bump = listing.bump
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(mut, seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    #[account(mut, seeds = [GRANT_SEED, grant.wallet.as_ref(), grant.key_id.as_ref()], bump = grant.bump)]
    pub grant: Box<Account<'info, KeyGrant>>,
    /// CHECK: an address without data, by its seeds; it signs as the wallet's SPL delegate.
    #[account(seeds = [SPENDER_SEED, grant.wallet.as_ref()], bump)]
    pub spender: UncheckedAccount<'info>,
    /// The record, made here.
    #[account(
        init,
        payer = payer,
        space = 8 + ExecutionRecord::INIT_SPACE,
        seeds = [EXECUTION_SEED, args.execution_id.as_ref()],
        bump
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    /// CHECK: at its address by its seeds; made here as a token account that the record owns.
    #[account(mut, seeds = [ESCROW_SEED, record.key().as_ref()], bump)]
    pub escrow: UncheckedAccount<'info>,
    /// The wallet's associated token account.
    #[account(
        mut,
        seeds = [grant.wallet.as_ref(), token_program.key().as_ref(), usdc_mint.key().as_ref()],
        seeds::program = anchor_spl::associated_token::ID,
        bump,
        constraint = source.owner == grant.wallet @ MarketplaceError::InvalidSource
    )]
    pub source: Box<Account<'info, TokenAccount>>,
    pub usdc_mint: Box<Account<'info, Mint>>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

impl OpenExecutionWithGrant<'_> {
    /// The terms hold; source covers the price and has delegated it to the spender; the grant's caps are
    /// checked where they are spent; all else by the constraints.
    pub fn validate(&self, args: &OpenExecutionArgs) -> Result<()> {
        validate_open(args, &self.config, &self.listing, &self.grant.wallet)?;
        let price = self.listing.price;
        require!(
            self.source.amount >= price,
            MarketplaceError::InsufficientBalance
        );
        let delegated = self.source.delegate.contains(&self.spender.key());
        require!(
            delegated && self.source.delegated_amount >= price,
            MarketplaceError::InsufficientAllowance
        );
        Ok(())
    }
}

/// Debit the grant, make record and escrow, and move the price as the wallet's delegate.
pub fn open_execution_with_grant_handler(
    ctx: Context<OpenExecutionWithGrant>,
    args: OpenExecutionArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    let config = &accounts.config;
    let price = accounts.listing.price;
    let wallet = accounts.grant.wallet;
    accounts.grant.debit(price, now)?;
    accounts.grant.invariant()?;
    accounts.collateral.add_exposure(
        price,
        config.exposure_multiple,
        config.dispute_window_seconds,
        now,
    )?;
    let opening = Opening {
        caller: wallet,
        key_id: accounts.grant.key_id,
        rent_sponsor: accounts.payer.key(),
        bump: ctx.bumps.record,
        escrow_bump: ctx.bumps.escrow,
        now,
    };
    accounts
        .record
        .set_inner(new_record(&args, &opening, config, &accounts.listing)?);

    let record_key = accounts.record.key();
    create_token_account(
        &accounts.payer,
        &accounts.escrow,
        &[ESCROW_SEED, record_key.as_ref(), &[ctx.bumps.escrow]],
        &accounts.usdc_mint.to_account_info(),
        &accounts.record.to_account_info(),
        &accounts.token_program,
        &accounts.system_program,
    )?;
    let transfer = Transfer {
        from: accounts.source.to_account_info(),
        to: accounts.escrow.to_account_info(),
        authority: accounts.spender.to_account_info(),
    };
    let spender_seeds: &[&[u8]] = &[SPENDER_SEED, wallet.as_ref(), &[ctx.bumps.spender]];
    let signer = [spender_seeds];
    let context =
        CpiContext::new_with_signer(accounts.token_program.to_account_info(), transfer, &signer);
    token::transfer(context, price)?;
    announce_open(&accounts.record, &accounts.escrow, Some(&accounts.grant))
}

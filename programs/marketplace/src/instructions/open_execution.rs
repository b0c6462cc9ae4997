//! Funds an execution's escrow from the caller's own hand. What every open has in common is here too.

use anchor_lang::prelude::*;
use anchor_spl::token::{self, Mint, Token, TokenAccount, Transfer};

use crate::constants::*;
use crate::creation::create_token_account;
use crate::errors::MarketplaceError;
use crate::events::ExecutionOpened;
use crate::state::{
    AgentListing, Config, CreatorCollateral, ExecutionRecord, ExecutionStatus, KeyGrant,
    ListingStatus,
};

/// Arguments of both opens.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct OpenExecutionArgs {
    /// Random, or derived from an idempotency key.
    pub nonce: [u8; 16],
    /// What caller and nonce make; given so that the record's address can be known, and checked.
    pub execution_id: [u8; 16],
    /// Most that the caller agreed to pay, base units.
    pub max_price: u64,
    /// The listing version that the caller saw.
    pub listing_version: u32,
    /// How long the creator has for its answer.
    pub timeout_seconds: u32,
    /// SHA-256 of the canonical JSON `{"parameters":…,"task":…}`.
    pub request_hash: [u8; 32],
    /// The open fails after this moment, unix seconds, so that a late one cannot surprise anybody.
    pub open_before: i64,
}

/// Accounts of `open_execution`.
#[derive(Accounts)]
#[instruction(args: OpenExecutionArgs)]
pub struct OpenExecution<'info> {
    /// The wallet that pays the price.
    pub caller: Signer<'info>,
    /// Pays the rent, and gets it back.
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(seeds = [CONFIG_SEED], bump = config.bump, has_one = usdc_mint @ MarketplaceError::WrongMint)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()],
        bump = listing.bump
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(mut, seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
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
    /// Any USDC account that the caller owns.
    #[account(
        mut,
        constraint = source.owner == caller.key() && source.mint == usdc_mint.key()
            @ MarketplaceError::InvalidSource
    )]
    pub source: Box<Account<'info, TokenAccount>>,
    pub usdc_mint: Box<Account<'info, Mint>>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

impl OpenExecution<'_> {
    /// The terms hold; source is the caller's and covers the price; all else by the constraints.
    pub fn validate(&self, args: &OpenExecutionArgs) -> Result<()> {
        validate_open(args, &self.config, &self.listing, &self.caller.key())?;
        require!(
            self.source.amount >= self.listing.price,
            MarketplaceError::InsufficientBalance
        );
        Ok(())
    }
}

/// What both opens require of the listing, the clock and the id.
pub fn validate_open(
    args: &OpenExecutionArgs,
    config: &Config,
    listing: &AgentListing,
    caller: &Pubkey,
) -> Result<()> {
    require!(!config.opens_paused, MarketplaceError::OpensPaused);
    require!(
        listing.status == ListingStatus::Active,
        MarketplaceError::ListingNotActive
    );
    require!(
        listing.price <= args.max_price,
        MarketplaceError::PriceAboveMax
    );
    require!(
        listing.listing_version == args.listing_version,
        MarketplaceError::ListingVersionMismatch
    );
    listing.check_timeout(args.timeout_seconds)?;
    require!(
        Clock::get()?.unix_timestamp <= args.open_before,
        MarketplaceError::OpenTooLate
    );
    let expected = ExecutionRecord::derive_id(caller, &args.nonce);
    require!(
        expected == args.execution_id,
        MarketplaceError::WrongExecutionId
    );
    Ok(())
}

/// Who pays and on whose word; the rest of a new record follows from listing and config.
pub struct Opening {
    pub caller: Pubkey,
    pub key_id: [u8; 16],
    pub rent_sponsor: Pubkey,
    pub bump: u8,
    pub escrow_bump: u8,
    pub now: i64,
}

/// The record of an execution that opens now.
pub fn new_record(
    args: &OpenExecutionArgs,
    opening: &Opening,
    config: &Config,
    listing: &Account<AgentListing>,
) -> Result<ExecutionRecord> {
    let deadline = opening.now.saturating_add(i64::from(args.timeout_seconds));
    Ok(ExecutionRecord {
        version: ACCOUNT_VERSION,
        status: ExecutionStatus::Open,
        bump: opening.bump,
        escrow_bump: opening.escrow_bump,
        execution_id: args.execution_id,
        listing: listing.key(),
        caller: opening.caller,
        signing_key: listing.signing_key,
        key_id: opening.key_id,
        rent_sponsor: opening.rent_sponsor,
        price: listing.price,
        request_hash: args.request_hash,
        result_hash: [0; 32],
        opened_at: opening.now,
        deadline,
        refund_at: deadline.saturating_add(i64::from(config.refund_grace_seconds)),
        settled_at: 0,
        dispute_window_seconds: config.dispute_window_seconds,
        listing_version: listing.listing_version,
        execution_time_ms: 0,
        fee_bps: config.fee_bps,
    })
}

/// The record and its escrow agree after funding; then say so.
pub fn announce_open(
    record: &Account<ExecutionRecord>,
    escrow: &AccountInfo,
    grant: Option<&KeyGrant>,
) -> Result<()> {
    let held = crate::creation::read_token_account(escrow).map_or(0, |account| account.amount);
    record.invariant(held)?;
    emit!(ExecutionOpened {
        record: record.key(),
        execution_id: record.execution_id,
        listing: record.listing,
        caller: record.caller,
        signing_key: record.signing_key,
        key_id: record.key_id,
        rent_sponsor: record.rent_sponsor,
        price: record.price,
        fee_bps: record.fee_bps,
        listing_version: record.listing_version,
        request_hash: record.request_hash,
        opened_at: record.opened_at,
        deadline: record.deadline,
        refund_at: record.refund_at,
        dispute_window_seconds: record.dispute_window_seconds,
        grant_execution_count: grant.map_or(0, |grant| grant.execution_count),
        grant_total_spent: grant.map_or(0, |grant| grant.total_spent),
    });
    Ok(())
}

/// Make record and escrow and move the price from the caller's account.
pub fn open_execution_handler(ctx: Context<OpenExecution>, args: OpenExecutionArgs) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    let config = &accounts.config;
    let price = accounts.listing.price;
    accounts.collateral.add_exposure(
        price,
        config.exposure_multiple,
        config.dispute_window_seconds,
        now,
    )?;
    let opening = Opening {
        caller: accounts.caller.key(),
        key_id: [0; 16],
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
        authority: accounts.caller.to_account_info(),
    };
    token::transfer(
        CpiContext::new(accounts.token_program.to_account_info(), transfer),
        price,
    )?;
    announce_open(&accounts.record, &accounts.escrow, None)
}

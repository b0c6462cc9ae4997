//! Funds an execution by an API key's grant.

use anchor_lang::prelude::*;
use anchor_spl::associated_token::AssociatedToken;
use anchor_spl::token_interface::{self, Mint, TokenAccount, TokenInterface, TransferChecked};
use solana_sha256_hasher::hashv;

use crate::state::*;

/// As the marketplace's.
#[derive(AnchorSerialize, AnchorDeserialize, Clone)]
pub struct OpenArgs {
    pub nonce: [u8; 16],
    pub execution_id: [u8; 16],
    pub max_price: u64,
    pub listing_version: u32,
    pub timeout_seconds: u32,
    pub request_hash: [u8; 32],
    pub open_before: i64,
}

#[derive(Accounts)]
#[instruction(args: OpenArgs)]
pub struct Open<'info> {
    pub relay_authority: Signer<'info>,
    #[account(mut)]
    pub payer: Signer<'info>,
    #[account(
        seeds = [b"config"],
        bump,
        has_one = relay_authority @ EscrowError::NotRelayAuthority,
        has_one = usdc_mint @ EscrowError::WrongMint
    )]
    pub config: Box<Account<'info, Config>>,
    #[account(
        seeds = [b"listing", listing.creator.as_ref(), listing.listing_id.as_ref()],
        bump
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(mut, seeds = [b"collateral", listing.key().as_ref()], bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// CHECK: the grant's wallet.
    pub wallet: UncheckedAccount<'info>,
    #[account(
        mut,
        seeds = [b"grant", wallet.key().as_ref(), grant.key_id.as_ref()],
        bump,
        has_one = wallet
    )]
    pub grant: Box<Account<'info, KeyGrant>>,
    /// CHECK: the wallet's SPL delegate, an address without data.
    #[account(seeds = [b"spender", wallet.key().as_ref()], bump)]
    pub spender: UncheckedAccount<'info>,
    #[account(
        init,
        payer = payer,
        space = 8 + ExecutionRecord::INIT_SPACE,
        seeds = [b"execution", args.execution_id.as_ref()],
        bump
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    #[account(
        init,
        payer = payer,
        associated_token::mint = usdc_mint,
        associated_token::authority = record,
        associated_token::token_program = token_program
    )]
    pub escrow: Box<InterfaceAccount<'info, TokenAccount>>,
    #[account(
        mut,
        associated_token::mint = usdc_mint,
        associated_token::authority = wallet,
        associated_token::token_program = token_program
    )]
    pub source: Box<InterfaceAccount<'info, TokenAccount>>,
    pub usdc_mint: Box<InterfaceAccount<'info, Mint>>,
    pub token_program: Interface<'info, TokenInterface>,
    pub associated_token_program: Program<'info, AssociatedToken>,
    pub system_program: Program<'info, System>,
}

pub fn open_handler(ctx: Context<Open>, args: OpenArgs) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    let wallet = accounts.wallet.key();
    let price = accounts.listing.price;

    let (config, listing) = (&accounts.config, &accounts.listing);
    require!(!config.paused, EscrowError::Paused);
    require!(
        listing.status == ListingStatus::Active,
        EscrowError::ListingNotActive
    );
    require!(price <= args.max_price, EscrowError::PriceAboveMax);
    require!(
        listing.listing_version == args.listing_version,
        EscrowError::ListingVersionMismatch
    );
    require!(
        args.timeout_seconds >= listing.min_timeout_seconds
            && args.timeout_seconds <= listing.timeout_seconds
            && args.timeout_seconds <= config.max_timeout_seconds,
        EscrowError::TimeoutOutOfRange
    );
    require!(now <= args.open_before, EscrowError::OpenTooLate);
    require!(
        execution_id(&wallet, &args.nonce) == args.execution_id,
        EscrowError::WrongExecutionId
    );
    require!(
        accounts.source.amount >= price,
        EscrowError::InsufficientBalance
    );
    count_exposure(&mut accounts.collateral, config, price, now)?;
    debit(&mut accounts.grant, price, now)?;

    let (record_key, escrow_key) = (accounts.record.key(), accounts.escrow.key());
    let deadline = now + i64::from(args.timeout_seconds);
    accounts.record.set_inner(ExecutionRecord {
        execution_id: args.execution_id,
        listing: accounts.listing.key(),
        caller: wallet,
        signing_key: accounts.listing.signing_key,
        key_id: accounts.grant.key_id,
        rent_sponsor: accounts.payer.key(),
        escrow: escrow_key,
        price,
        fee_bps: accounts.config.fee_bps,
        listing_version: accounts.listing.listing_version,
        status: ExecutionStatus::Open,
        request_hash: args.request_hash,
        result_hash: None,
        opened_at: now,
        deadline,
        refund_at: deadline + i64::from(accounts.config.refund_grace_seconds),
        settled_at: None,
        dispute_window_seconds: accounts.config.dispute_window_seconds,
        execution_time_ms: None,
    });

    let seeds: &[&[&[u8]]] = &[&[b"spender", wallet.as_ref(), &[ctx.bumps.spender]]];
    let transfer = TransferChecked {
        from: accounts.source.to_account_info(),
        mint: accounts.usdc_mint.to_account_info(),
        to: accounts.escrow.to_account_info(),
        authority: accounts.spender.to_account_info(),
    };
    let program = accounts.token_program.to_account_info();
    token_interface::transfer_checked(
        CpiContext::new_with_signer(program, transfer, seeds),
        price,
        accounts.usdc_mint.decimals,
    )?;
    msg!("Execution opened, {} base units in escrow", price);

    let record = &accounts.record;
    emit!(ExecutionOpened {
        record: record_key,
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
        grant_execution_count: accounts.grant.execution_count,
        grant_total_spent: accounts.grant.total_spent,
    });
    Ok(())
}

/// The marketplace's rule, so that both programs run the same executions.
fn execution_id(caller: &Pubkey, nonce: &[u8; 16]) -> [u8; 16] {
    let domain = b"agent-marketplace:execution:v1";
    let hash = hashv(&[domain, caller.as_ref(), nonce]).to_bytes();
    let mut id = [0; 16];
    id.copy_from_slice(&hash[..16]);
    id[6] = (id[6] & 0x0f) | 0x80;
    id[8] = (id[8] & 0x3f) | 0x80;
    id
}

fn count_exposure(
    collateral: &mut CreatorCollateral,
    config: &Config,
    price: u64,
    now: i64,
) -> Result<()> {
    if config.exposure_multiple == 0 {
        return Ok(());
    }
    if now - collateral.exposure_window_start >= i64::from(config.dispute_window_seconds) {
        collateral.exposure_window_start = now;
        collateral.exposure_opened = 0;
    }
    let opened = collateral
        .exposure_opened
        .checked_add(price)
        .ok_or(EscrowError::Overflow)?;
    let held = collateral.deposited - collateral.slashed;
    let limit = held
        .checked_mul(u64::from(config.exposure_multiple))
        .ok_or(EscrowError::Overflow)?;
    require!(opened <= limit, EscrowError::ExposureLimitReached);
    collateral.exposure_opened = opened;
    Ok(())
}

fn debit(grant: &mut KeyGrant, price: u64, now: i64) -> Result<()> {
    require!(!grant.revoked, EscrowError::GrantRevoked);
    require!(now < grant.expires_at, EscrowError::GrantExpired);
    require!(
        price <= grant.per_execution_max,
        EscrowError::GrantPerExecutionExceeded
    );
    let elapsed = now - grant.period_start;
    let period = i64::from(grant.period_seconds);
    if elapsed >= period {
        grant.period_start += elapsed / period * period;
        grant.period_spent = 0;
    }
    grant.period_spent = grant
        .period_spent
        .checked_add(price)
        .ok_or(EscrowError::Overflow)?;
    require!(
        grant.period_spent <= grant.period_max,
        EscrowError::GrantPeriodExceeded
    );
    grant.total_spent = grant
        .total_spent
        .checked_add(price)
        .ok_or(EscrowError::Overflow)?;
    require!(
        grant.total_spent <= grant.total_max,
        EscrowError::GrantTotalExceeded
    );
    grant.execution_count += 1;
    msg!(
        "Grant debited, {} of {} base units spent",
        grant.total_spent,
        grant.total_max
    );
    Ok(())
}

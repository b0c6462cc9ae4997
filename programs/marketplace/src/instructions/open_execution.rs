//! Funds an execution's escrow from the caller's own account.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::Funder;
use crate::errors::MarketplaceError;
use crate::guard::fail;
use crate::instructions::opening::{require_rent_sponsor, validate_open, Opening};
use crate::state::{AgentListing, Config, CreatorCollateral};
use crate::tokens::{self, TokenTransfer};

/// Arguments of the opens.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct OpenExecutionArgs {
    /// The half-hour (unix time / 1,800) as a little-endian u32, then 12 bytes: random or from an idempotency key.
    pub nonce: [u8; 16],
    /// The id derived from caller and nonce. The record's address needs it, and the program checks it.
    pub execution_id: [u8; 16],
    /// Most that the caller agreed to pay, base units.
    pub max_price: u64,
    /// The listing version that the caller saw.
    pub listing_version: u32,
    /// Time for the creator's answer, seconds.
    pub timeout_seconds: u32,
    /// SHA-256 of the canonical JSON `{"parameters":…,"task":…}`.
    pub request_hash: [u8; 32],
    /// The open fails after this time, unix seconds, so a delayed transaction cannot open unexpectedly.
    pub open_before: i64,
    /// Gas lamports to put into the record for the relay authority that ends the execution, at most `MAX_GAS_LAMPORTS`.
    /// With a grant they come from the wallet's gas balance, otherwise from the payer.
    pub gas_lamports: u32,
}

/// Accounts of `open_execution`.
#[derive(Accounts)]
#[instruction(args: OpenExecutionArgs)]
pub struct OpenExecution<'info> {
    /// The wallet that pays the price.
    pub caller: Signer<'info>,
    /// Lends the rent and pays the gas.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: gets the rent back; any account that the payer names; checked in `validate`.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    #[account(address = CONFIG_ADDRESS, has_one = usdc_mint @ fail(MarketplaceError::WrongMint))]
    pub config: Box<Account<'info, Config>>,
    #[account(seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()], bump = listing.bump)]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(mut, seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// CHECK: the new record, by its seeds; created here.
    #[account(mut, seeds = [EXECUTION_SEED, args.execution_id.as_ref()], bump)]
    pub record: UncheckedAccount<'info>,
    /// CHECK: the new escrow, by its seeds; created here as a token account that the record owns.
    #[account(mut, seeds = [ESCROW_SEED, record.key().as_ref()], bump)]
    pub escrow: UncheckedAccount<'info>,
    /// CHECK: any USDC account that the caller owns; checked in `validate`.
    #[account(mut)]
    pub source: UncheckedAccount<'info>,
    /// CHECK: the settlement mint, by the config's has_one.
    pub usdc_mint: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

impl OpenExecution<'_> {
    /// The open's terms are valid; source is the caller's and covers the price; the constraints check the rest.
    pub fn validate(&self, args: &OpenExecutionArgs) -> Result<()> {
        validate_open(args, &self.config, &self.listing, self.caller.key)?;
        require_rent_sponsor(&self.rent_sponsor, &self.record, &self.escrow)?;
        let source = tokens::require_owned(
            &self.source,
            self.usdc_mint.key,
            self.caller.key,
            MarketplaceError::InvalidSource,
        )?;
        ensure!(source.amount >= self.listing.price, InsufficientBalance);
        Ok(())
    }
}

/// Make record and escrow and move the price from the caller's account.
pub fn open_execution_handler(ctx: Context<OpenExecution>, args: OpenExecutionArgs) -> Result<()> {
    let accounts = ctx.accounts;
    let transfer = TokenTransfer {
        authority: accounts.caller.to_account_info(),
        seeds: &[],
        token_program: &accounts.token_program,
    };
    let payer = Funder::wallet(&accounts.payer, &accounts.system_program);
    let opening = Opening {
        args: &args,
        caller: accounts.caller.key(),
        grant: None,
        lender: &payer,
        gas_giver: &payer,
        escrow_lender: &payer,
        spender_bump: 0,
        fee_lamports: 0,
        rent_sponsor: accounts.rent_sponsor.key(),
        record: &accounts.record,
        record_bump: ctx.bumps.record,
        escrow: &accounts.escrow,
        escrow_bump: ctx.bumps.escrow,
        source: &accounts.source,
        amount: accounts.listing.price,
        deposit: Pubkey::default(),
        service_fee: 0,
        usdc_mint: &accounts.usdc_mint,
        now: Clock::get()?.unix_timestamp,
    };
    opening.fund(&accounts.config, &accounts.listing, &mut accounts.collateral, &transfer)
}

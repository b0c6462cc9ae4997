//! Funds an execution's escrow from a deposit that its caller has paid. The relay
//! signs. The deposit's address, to which the caller paid, commits to the terms.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::Funder;
use crate::errors::MarketplaceError;
use crate::guard::fail;
use crate::instructions::open_execution::OpenExecutionArgs;
use crate::instructions::opening::{require_rent_sponsor, validate_open, Opening};
use crate::state::{close_deposit, AgentListing, Config, CreatorCollateral, Deposit, DepositTerms};
use crate::tokens::{self, TokenTransfer};

/// Arguments of `open_execution_from_deposit`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct OpenExecutionFromDepositArgs {
    /// The arguments of every open. Some of them, with the listing's address, are the deposit's terms.
    pub open: OpenExecutionArgs,
    /// The payer that the quote named; the zero key if it named none.
    pub quoted_payer: Pubkey,
}

/// Accounts of `open_execution_from_deposit`.
#[derive(Accounts)]
#[instruction(args: OpenExecutionFromDepositArgs)]
pub struct OpenExecutionFromDeposit<'info> {
    pub relay_authority: Signer<'info>,
    /// Lends the rent and pays the gas.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: gets the rent of record and escrow back; any account that the payer names; checked in `validate`.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    #[account(address = CONFIG_ADDRESS, has_one = usdc_mint @ fail(MarketplaceError::WrongMint))]
    pub config: Box<Account<'info, Config>>,
    #[account(seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()], bump = listing.bump)]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(mut, seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    #[account(mut, seeds = [DEPOSIT_SEED, deposit.hash.as_ref()], bump = deposit.bump)]
    pub deposit: Box<Account<'info, Deposit>>,
    /// CHECK: the deposit's associated token account, by its seeds; checked in `validate`.
    #[account(
        mut,
        seeds = [deposit.key().as_ref(), token_program.key().as_ref(), usdc_mint.key().as_ref()],
        seeds::program = anchor_spl::associated_token::ID,
        bump = deposit.vault_bump
    )]
    pub vault: UncheckedAccount<'info>,
    /// CHECK: the account that lent the deposit's rent; only receives lamports.
    #[account(mut, address = deposit.rent_sponsor @ fail(MarketplaceError::WrongRentSponsor))]
    pub deposit_rent_sponsor: UncheckedAccount<'info>,
    /// CHECK: the treasury, by its address.
    #[account(mut, address = TREASURY_ADDRESS)]
    pub treasury: UncheckedAccount<'info>,
    /// CHECK: the new record, by its seeds; created here.
    #[account(mut, seeds = [EXECUTION_SEED, args.open.execution_id.as_ref()], bump)]
    pub record: UncheckedAccount<'info>,
    /// CHECK: the new escrow, by its seeds; created here as a token account that the record owns.
    #[account(mut, seeds = [ESCROW_SEED, record.key().as_ref()], bump)]
    pub escrow: UncheckedAccount<'info>,
    /// CHECK: the settlement mint, by the config's has_one.
    pub usdc_mint: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

impl OpenExecutionFromDeposit<'_> {
    /// The deposit matches the terms, is paid and not expired; the open's terms are valid; constraints check the rest.
    pub fn validate(&self, args: &OpenExecutionFromDepositArgs) -> Result<()> {
        self.config.require_relay_authority(self.relay_authority.key)?;
        let (mint, deposit) = (self.usdc_mint.key, self.deposit.key());
        let held = tokens::require_vault(&self.vault, mint, &deposit)?;
        self.require_terms(args)?;
        self.deposit.require_openable(held, Clock::get()?.unix_timestamp)?;
        validate_open(&args.open, &self.config, &self.listing, &self.deposit.caller)?;
        // The listing has this version now, but the quote may have named another price.
        ensure!(self.listing.price == self.deposit.price, DepositTermsMismatch);
        require_rent_sponsor(&self.rent_sponsor, &self.record, &self.escrow)
    }

    /// Listing and arguments match the terms of the deposit.
    fn require_terms(&self, args: &OpenExecutionFromDepositArgs) -> Result<()> {
        let terms = DepositTerms {
            listing: &self.listing.key(),
            listing_version: args.open.listing_version,
            request_hash: &args.open.request_hash,
            timeout_seconds: args.open.timeout_seconds,
            nonce: &args.open.nonce,
        };
        let hash = Deposit::hash_of(
            &terms.hash(),
            &args.quoted_payer,
            self.deposit.price,
            self.deposit.service_fee,
        );
        ensure!(hash == self.deposit.hash, DepositTermsMismatch);
        Ok(())
    }
}

/// Create record and escrow, move all but the service fee there, pay the service fee, and close the deposit.
pub fn open_execution_from_deposit_handler(
    ctx: Context<OpenExecutionFromDeposit>,
    args: OpenExecutionFromDepositArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let deposit = &accounts.deposit;
    let transfer = TokenTransfer {
        authority: deposit.to_account_info(),
        seeds: &deposit.seeds(),
        token_program: &accounts.token_program,
    };
    // A frozen treasury must not block a call: the service fee then stays in the escrow with the price.
    let service_fee = if tokens::can_receive(&accounts.treasury, accounts.usdc_mint.key) {
        deposit.service_fee
    } else {
        0
    };
    let amount = tokens::balance(&accounts.vault)
        .checked_sub(service_fee)
        .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
    let payer = Funder::wallet(&accounts.payer, &accounts.system_program);
    let opening = Opening {
        args: &args.open,
        caller: deposit.caller,
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
        source: &accounts.vault,
        amount,
        deposit: deposit.key(),
        service_fee,
        usdc_mint: &accounts.usdc_mint,
        now: Clock::get()?.unix_timestamp,
    };
    opening.fund(&accounts.config, &accounts.listing, &mut accounts.collateral, &transfer)?;
    transfer.send(&accounts.vault, &accounts.treasury, service_fee)?;
    let closed =
        close_deposit(deposit, &accounts.vault, &accounts.deposit_rent_sponsor, &transfer)?;
    ensure!(closed, InvalidRentSponsor);
    Ok(())
}

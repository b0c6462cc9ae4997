//! Funds an execution's escrow for an API key: the relay signs, the grant's caps limit the spend, and the
//! wallet's `Spender` delegate moves the price. Its lamports, the gas balance, pay what the call costs.

use anchor_lang::prelude::*;
use anchor_spl::token::{Token, TokenAccount};

use crate::constants::*;
use crate::creation::{rent_exempt_minimum, save, space_of, Funder};
use crate::errors::MarketplaceError;
use crate::guard::fail;
use crate::instructions::open_execution::OpenExecutionArgs;
use crate::instructions::opening::{require_rent_sponsor, validate_open, Opening};
use crate::state::{AgentListing, Config, CreatorCollateral, ExecutionRecord, KeyGrant};
use crate::tokens::{self, TokenTransfer};

/// Arguments of `open_execution_with_grant`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct OpenExecutionWithGrantArgs {
    /// The arguments of every open. `gas_lamports` is what the execution's end and its archive cost.
    pub open: OpenExecutionArgs,
    /// What the open costs, lamports: the wallet's gas balance pays it to the payer now, and it never comes back.
    pub fee_lamports: u32,
    /// The gas balance lends the escrow's rent and gets it back when the escrow closes. A gas balance that is the
    /// `rent_sponsor` lends the rent of both accounts, whatever this says.
    pub spender_lends_escrow: bool,
}

/// Accounts of `open_execution_with_grant`.
#[derive(Accounts)]
#[instruction(args: OpenExecutionWithGrantArgs)]
pub struct OpenExecutionWithGrant<'info> {
    pub relay_authority: Signer<'info>,
    /// Lends the rent that the gas balance does not lend, and gets the fee.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: gets the record's rent back, and the escrow's if the gas balance does not lend it. The wallet's `Spender`,
    /// which then lends both, or any account that the payer names; checked in `validate`.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    #[account(address = CONFIG_ADDRESS, has_one = usdc_mint @ fail(MarketplaceError::WrongMint))]
    pub config: Box<Account<'info, Config>>,
    #[account(seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()], bump = listing.bump)]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(mut, seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    #[account(mut, seeds = [GRANT_SEED, grant.wallet.as_ref(), grant.key_id.as_ref()], bump = grant.bump)]
    pub grant: Box<Account<'info, KeyGrant>>,
    /// CHECK: the wallet's `Spender`, an address without data, by its seeds.
    /// It signs as the wallet's SPL delegate, and its lamports pay fee and gas.
    #[account(mut, seeds = [SPENDER_SEED, grant.wallet.as_ref()], bump = grant.spender_bump)]
    pub spender: UncheckedAccount<'info>,
    /// CHECK: the new record, by its seeds; created here.
    #[account(mut, seeds = [EXECUTION_SEED, args.open.execution_id.as_ref()], bump)]
    pub record: UncheckedAccount<'info>,
    /// CHECK: the new escrow, by its seeds; created here as a token account that the record owns.
    #[account(mut, seeds = [ESCROW_SEED, record.key().as_ref()], bump)]
    pub escrow: UncheckedAccount<'info>,
    /// CHECK: the wallet's associated token account, by its seeds; checked in `validate`.
    #[account(
        mut,
        seeds = [grant.wallet.as_ref(), token_program.key().as_ref(), usdc_mint.key().as_ref()],
        seeds::program = anchor_spl::associated_token::ID,
        bump = grant.source_bump
    )]
    pub source: UncheckedAccount<'info>,
    /// CHECK: the settlement mint, by the config's has_one.
    pub usdc_mint: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

impl OpenExecutionWithGrant<'_> {
    /// The open's terms are valid; source covers the price and has delegated it to the spender; the gas balance
    /// covers its share. `debit` checks the grant's other caps; the constraints check the rest.
    pub fn validate(&self, args: &OpenExecutionWithGrantArgs) -> Result<()> {
        self.config.require_relay_authority(self.relay_authority.key)?;
        validate_open(&args.open, &self.config, &self.listing, &self.grant.wallet)?;
        require_rent_sponsor(&self.rent_sponsor, &self.record, &self.escrow)?;
        self.grant.require_gas(args.fee_lamports, args.open.gas_lamports)?;
        ensure!(self.spender.lamports() >= self.spender_share(args)?, GasBalanceTooLow);
        let source = tokens::require_owned(
            &self.source,
            self.usdc_mint.key,
            &self.grant.wallet,
            MarketplaceError::InvalidSource,
        )?;
        let price = self.listing.price;
        ensure!(source.amount >= price, InsufficientBalance);
        ensure!(
            source.delegate.contains(self.spender.key) && source.delegated_amount >= price,
            InsufficientAllowance
        );
        Ok(())
    }

    /// True if the wallet's gas balance lends the rent of record and escrow.
    fn spender_lends_both(&self) -> bool {
        self.rent_sponsor.key == self.spender.key
    }

    /// True if it lends the escrow's rent.
    fn spender_lends_escrow(&self, args: &OpenExecutionWithGrantArgs) -> bool {
        args.spender_lends_escrow || self.spender_lends_both()
    }

    /// Most lamports that this open takes from the gas balance.
    fn spender_share(&self, args: &OpenExecutionWithGrantArgs) -> Result<u64> {
        let mut share = u64::from(args.fee_lamports).saturating_add(args.open.gas_lamports.into());
        if self.spender_lends_escrow(args) {
            share = share.saturating_add(rent_exempt_minimum(TokenAccount::LEN)?);
        }
        if self.spender_lends_both() {
            let record = rent_exempt_minimum(space_of::<ExecutionRecord>())?;
            share = share.saturating_add(record);
        }
        Ok(share)
    }
}

/// The gas balance is left empty or rent-exempt. The runtime would refuse anything else too, but it would not name
/// the account.
pub fn require_sound_gas_balance(spender: &AccountInfo) -> Result<()> {
    let left = spender.lamports();
    ensure!(left == 0 || left >= rent_exempt_minimum(0)?, GasBalanceBelowRent);
    Ok(())
}

/// Debit the grant, create record and escrow, move the price as the wallet's delegate, and pay the fee.
pub fn open_execution_with_grant_handler(
    ctx: Context<OpenExecutionWithGrant>,
    args: OpenExecutionWithGrantArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    accounts.grant.debit(accounts.listing.price, now)?;
    accounts.grant.invariant()?;
    save(&accounts.grant)?;
    let grant = &accounts.grant;
    let transfer = TokenTransfer {
        authority: accounts.spender.to_account_info(),
        seeds: &[SPENDER_SEED, grant.wallet.as_ref(), &[grant.spender_bump]],
        token_program: &accounts.token_program,
    };
    let payer = Funder::wallet(&accounts.payer, &accounts.system_program);
    let spender = Funder {
        account: &accounts.spender,
        seeds: transfer.seeds,
        system_program: &accounts.system_program,
    };
    let spender_lends_both = accounts.spender_lends_both();
    let spender_lends_escrow = accounts.spender_lends_escrow(&args);
    let lender = |spender_lends| if spender_lends { &spender } else { &payer };
    let opening = Opening {
        args: &args.open,
        caller: grant.wallet,
        grant: Some(grant),
        lender: lender(spender_lends_both),
        gas_giver: &spender,
        escrow_lender: lender(spender_lends_escrow),
        spender_bump: if spender_lends_escrow { grant.spender_bump } else { 0 },
        fee_lamports: args.fee_lamports,
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
        now,
    };
    opening.fund(&accounts.config, &accounts.listing, &mut accounts.collateral, &transfer)?;
    spender.send(&accounts.payer, args.fee_lamports.into())?;
    if spender_lends_escrow || args.fee_lamports > 0 || args.open.gas_lamports > 0 {
        require_sound_gas_balance(&accounts.spender)?;
    }
    Ok(())
}

//! Funds an execution's escrow for an API key: the relay signs, the grant's caps limit the spend, and the
//! wallet's `Spender` delegate moves the price.

use anchor_lang::prelude::*;
use anchor_spl::token::{Token, TokenAccount};

use crate::addresses::{
    address_of, require_address, require_canonical_address, require_collateral_of, require_writable,
};
use crate::constants::*;
use crate::creation::{rent_exempt_minimum, save, space_of, Funder};
use crate::errors::MarketplaceError;
use crate::guard::fail;
use crate::instructions::open_execution::*;
use crate::state::{AgentListing, Config, CreatorCollateral, ExecutionRecord, KeyGrant};
use crate::tokens::{self, TokenTransfer};

/// Accounts of `open_execution_with_grant`.
#[derive(Accounts)]
#[instruction(args: OpenExecutionArgs)]
pub struct OpenExecutionWithGrant<'info> {
    pub relay_authority: Signer<'info>,
    /// Lends the rent, unless the gas balance does.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: gets the rent back; the wallet's `Spender`, which then lends
    /// it, or any account that the payer names; checked in `validate`.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    #[account(address = CONFIG_ADDRESS, has_one = usdc_mint @ fail(MarketplaceError::WrongMint))]
    pub config: Box<Account<'info, Config>>,
    pub listing: Box<Account<'info, AgentListing>>,
    #[cfg_attr(
        feature = "idl-build",
        account(mut, seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump)
    )]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    #[cfg_attr(feature = "idl-build", account(mut))]
    pub grant: Box<Account<'info, KeyGrant>>,
    /// CHECK: the wallet's `Spender`, an address without data; checked in `validate`.
    /// It signs as the wallet's SPL delegate, and its lamports pay the gas.
    #[cfg_attr(feature = "idl-build", account(seeds = [SPENDER_SEED, grant.wallet.as_ref()], bump))]
    #[account(mut)]
    pub spender: UncheckedAccount<'info>,
    /// CHECK: the new record, by its seeds; created here.
    #[account(mut, seeds = [EXECUTION_SEED, args.execution_id.as_ref()], bump)]
    pub record: UncheckedAccount<'info>,
    /// CHECK: the new escrow, by its seeds; created here as a token account that the record owns.
    #[account(mut, seeds = [ESCROW_SEED, record.key().as_ref()], bump)]
    pub escrow: UncheckedAccount<'info>,
    /// CHECK: the wallet's associated token account, by its seeds; checked in `validate`.
    #[cfg_attr(
        feature = "idl-build",
        account(
            seeds = [grant.wallet.as_ref(), token_program.key().as_ref(), usdc_mint.key().as_ref()],
            seeds::program = anchor_spl::associated_token::ID,
            bump
        )
    )]
    #[account(mut)]
    pub source: UncheckedAccount<'info>,
    /// CHECK: the settlement mint, by the config's has_one.
    pub usdc_mint: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
    pub system_program: Program<'info, System>,
}

impl OpenExecutionWithGrant<'_> {
    /// The open's terms are valid; source covers the price and has delegated it to the spender; the gas balance
    /// covers its share. `debit` and `take_lamports` check the grant's caps; the constraints check the rest.
    pub fn validate(&self, args: &OpenExecutionArgs) -> Result<()> {
        self.config
            .require_relay_authority(self.relay_authority.key)?;
        require_canonical_address(&self.listing)?;
        require_collateral_of(&self.collateral, &self.listing.key())?;
        require_writable(&self.collateral)?;
        require_canonical_address(&self.grant)?;
        require_writable(&self.grant)?;
        let spender = [SPENDER_SEED, self.grant.wallet.as_ref(), &[]];
        let spender = address_of(spender, self.grant.spender_bump, &crate::ID);
        require_address(self.spender.key, &spender)?;
        let associated = address_of(
            tokens::associated_seeds(&self.grant.wallet, self.usdc_mint.key),
            self.grant.source_bump,
            &anchor_spl::associated_token::ID,
        );
        require_address(self.source.key, &associated)?;
        validate_open(args, &self.config, &self.listing, &self.grant.wallet)?;
        require_rent_sponsor(&self.rent_sponsor, &self.record, &self.escrow)?;
        self.grant.require_gas(args.gas_lamports)?;
        ensure!(
            self.spender.lamports() >= self.tank_share(args)?,
            MarketplaceError::TankTooLow
        );
        let source = tokens::require_owned(
            &self.source,
            self.usdc_mint.key,
            &self.grant.wallet,
            MarketplaceError::InvalidSource,
        )?;
        let price = self.listing.price;
        ensure!(
            source.amount >= price,
            MarketplaceError::InsufficientBalance
        );
        ensure!(
            source.delegate.contains(self.spender.key) && source.delegated_amount >= price,
            MarketplaceError::InsufficientAllowance
        );
        Ok(())
    }

    /// True if the wallet's gas balance lends the rent.
    fn tank_lends(&self) -> bool {
        self.rent_sponsor.key == self.spender.key
    }

    /// Most lamports that this open takes from the gas balance.
    fn tank_share(&self, args: &OpenExecutionArgs) -> Result<u64> {
        let gas = u64::from(args.gas_lamports);
        if !self.tank_lends() {
            return Ok(gas);
        }
        let record = rent_exempt_minimum(space_of::<ExecutionRecord>())?;
        let escrow = rent_exempt_minimum(TokenAccount::LEN)?;
        Ok(gas.saturating_add(record).saturating_add(escrow))
    }
}

/// The gas balance is left empty or rent-exempt. The runtime would refuse anything else too, but it would not name
/// the account.
pub fn require_sound_tank(tank: &AccountInfo) -> Result<()> {
    let left = tank.lamports();
    ensure!(
        left == 0 || left >= rent_exempt_minimum(0)?,
        MarketplaceError::TankBelowRent
    );
    Ok(())
}

/// Debit the grant, create record and escrow, and move the price as the wallet's delegate.
pub fn open_execution_with_grant_handler(
    ctx: Context<OpenExecutionWithGrant>,
    args: OpenExecutionArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    let taken = accounts.tank_share(&args)?;
    accounts.grant.debit(accounts.listing.price, now)?;
    accounts.grant.take_lamports(taken)?;
    accounts.grant.invariant()?;
    save(&accounts.grant)?;
    let grant = &accounts.grant;
    let transfer = TokenTransfer {
        authority: accounts.spender.to_account_info(),
        seeds: &[SPENDER_SEED, grant.wallet.as_ref(), &[grant.spender_bump]],
        token_program: &accounts.token_program,
    };
    let payer = Funder::wallet(&accounts.payer);
    let tank = Funder {
        account: &accounts.spender,
        seeds: transfer.seeds,
    };
    let tank_lends = accounts.tank_lends();
    let opening = Opening {
        args: &args,
        caller: grant.wallet,
        grant: Some(grant),
        lender: if tank_lends { &tank } else { &payer },
        gas_giver: &tank,
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
    opening.fund(
        &accounts.config,
        &accounts.listing,
        &mut accounts.collateral,
        &transfer,
    )?;
    if tank_lends || args.gas_lamports > 0 {
        require_sound_tank(&accounts.spender)?;
    }
    Ok(())
}

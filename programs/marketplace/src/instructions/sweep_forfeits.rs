//! Moves the forfeited part of a listing's collateral to the treasury, once no caller can need it any more. Anyone may
//! call it.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::save;
use crate::errors::MarketplaceError;
use crate::events::ForfeitsSwept;
use crate::guard::fail;
use crate::instructions::return_collateral::close_spent_vault;
use crate::state::{Config, CreatorCollateral};
use crate::tokens::{self, TokenTransfer};

/// Accounts of `sweep_forfeits`.
#[derive(Accounts)]
pub struct SweepForfeits<'info> {
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [COLLATERAL_SEED, collateral.listing.as_ref()],
        bump = collateral.bump,
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// CHECK: the listing's vault, by its seeds.
    #[account(mut, seeds = [COLLATERAL_VAULT_SEED, collateral.listing.as_ref()], bump = collateral.vault_bump)]
    pub collateral_vault: UncheckedAccount<'info>,
    /// CHECK: the treasury, by its address; `validate` checks that it can receive.
    #[account(mut, address = TREASURY_ADDRESS)]
    pub treasury: UncheckedAccount<'info>,
    /// CHECK: the account that paid the vault's rent, by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl SweepForfeits<'_> {
    /// The guardian has not paused the treasury, which can receive; `CreatorCollateral::sweep_forfeits` checks the time.
    pub fn validate(&self) -> Result<()> {
        self.config.require_treasury_open()?;
        ensure!(tokens::can_receive(&self.treasury, &self.config.usdc_mint), DestinationUnusable);
        Ok(())
    }
}

/// Move the forfeited amount, and close the vault if it is no longer needed.
pub fn sweep_forfeits_handler(ctx: Context<SweepForfeits>) -> Result<()> {
    let accounts = ctx.accounts;
    let collateral = &mut accounts.collateral;
    collateral.invariant(tokens::balance(&accounts.collateral_vault))?;
    let amount = collateral.sweep_forfeits(Clock::get()?.unix_timestamp)?;
    save(collateral)?;
    let transfer = TokenTransfer {
        authority: accounts.collateral_vault.to_account_info(),
        seeds: &collateral.vault_seeds(),
        token_program: &accounts.token_program,
    };
    transfer.send(&accounts.collateral_vault, &accounts.treasury, amount)?;
    let vault_closed = close_spent_vault(collateral, &accounts.rent_sponsor, &transfer)?;
    collateral.invariant(tokens::balance(&accounts.collateral_vault))?;
    emit!(ForfeitsSwept { listing: collateral.listing, amount, vault_closed });
    Ok(())
}

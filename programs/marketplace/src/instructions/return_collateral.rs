//! Sends what is left of a delisted agent's collateral back to its creator. Anyone may call it.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::CollateralReturned;
use crate::guard::fail;
use crate::state::{AgentListing, Config, CreatorCollateral};
use crate::tokens::{self, TokenTransfer};

/// Accounts of `return_collateral`.
#[derive(Accounts)]
pub struct ReturnCollateral<'info> {
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()],
        bump = listing.bump
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(
        mut,
        seeds = [COLLATERAL_SEED, listing.key().as_ref()],
        bump = collateral.bump,
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// CHECK: the listing's vault, at its address by its seeds.
    #[account(
        mut,
        seeds = [COLLATERAL_VAULT_SEED, listing.key().as_ref()],
        bump = collateral.vault_bump
    )]
    pub collateral_vault: UncheckedAccount<'info>,
    /// CHECK: the creator's associated token account; checked in `validate`.
    #[cfg_attr(
        feature = "idl-build",
        account(
            seeds = [listing.creator.as_ref(), token_program.key().as_ref(), config.usdc_mint.as_ref()],
            seeds::program = anchor_spl::associated_token::ID,
            bump
        )
    )]
    #[account(mut)]
    pub destination: UncheckedAccount<'info>,
    /// CHECK: who paid the vault's rent, by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl ReturnCollateral<'_> {
    /// destination is the creator's and can receive; the moment has come, which is the transition's business.
    pub fn validate(&self) -> Result<()> {
        let (mint, creator) = (&self.config.usdc_mint, &self.listing.creator);
        ensure!(
            tokens::is_associated(&self.destination, mint, creator),
            MarketplaceError::WrongDestination
        );
        ensure!(
            tokens::can_receive_for(&self.destination, mint, creator),
            MarketplaceError::DestinationUnusable
        );
        Ok(())
    }
}

/// Send everything but awards still owed; close the vault if none is.
pub fn return_collateral_handler(ctx: Context<ReturnCollateral>) -> Result<()> {
    let accounts = ctx.accounts;
    let collateral = &mut accounts.collateral;
    let held = tokens::balance(&accounts.collateral_vault);
    collateral.invariant(held)?;
    collateral.mark_returned(Clock::get()?.unix_timestamp)?;
    // Whatever a stranger sent to the vault goes along: nobody else could ever claim it.
    let amount = held.saturating_sub(collateral.owed);
    let transfer = TokenTransfer {
        authority: accounts.collateral_vault.to_account_info(),
        seeds: &collateral.vault_seeds(),
        token_program: &accounts.token_program,
    };
    transfer.send(&accounts.collateral_vault, &accounts.destination, amount)?;
    let vault_closed = collateral.owed == 0;
    if vault_closed {
        let fallback_destination = collateral.to_account_info();
        transfer.close(
            &accounts.collateral_vault,
            &accounts.rent_sponsor,
            &fallback_destination,
        )?;
    }
    collateral.invariant(tokens::balance(&accounts.collateral_vault))?;
    emit!(CollateralReturned {
        listing: collateral.listing,
        destination: accounts.destination.key(),
        amount,
        owed: collateral.owed,
        vault_closed,
    });
    Ok(())
}

//! Returns the rest of a delisted listing's collateral to its creator. Anyone may call it.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::{first_taker, save};
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
    #[account(seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()], bump = listing.bump)]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(
        mut,
        seeds = [COLLATERAL_SEED, listing.key().as_ref()],
        bump = collateral.bump,
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// CHECK: the listing's vault, by its seeds.
    #[account(mut, seeds = [COLLATERAL_VAULT_SEED, listing.key().as_ref()], bump = collateral.vault_bump)]
    pub collateral_vault: UncheckedAccount<'info>,
    /// CHECK: the creator's associated token account, by its seeds; `validate` checks that it can receive.
    #[account(
        mut,
        seeds = [listing.creator.as_ref(), token_program.key().as_ref(), config.usdc_mint.as_ref()],
        seeds::program = anchor_spl::associated_token::ID,
        bump
    )]
    pub destination: UncheckedAccount<'info>,
    /// CHECK: the treasury, by its address; it may be frozen.
    #[account(mut, address = TREASURY_ADDRESS)]
    pub treasury: UncheckedAccount<'info>,
    /// CHECK: the account that paid the vault's rent, by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl ReturnCollateral<'_> {
    /// destination is the creator's and can receive; `mark_returned` checks the time and open disputes.
    pub fn validate(&self) -> Result<()> {
        let (mint, creator) = (&self.config.usdc_mint, &self.listing.creator);
        ensure!(tokens::can_receive_for(&self.destination, mint, creator), DestinationUnusable);
        Ok(())
    }
}

/// Send everything except owed awards: what is forfeited to the treasury, or later by `sweep_forfeits` if it cannot go
/// there now; the rest to the creator. If nothing stays, close the vault, now or, if its rent cannot be taken, later.
pub fn return_collateral_handler(ctx: Context<ReturnCollateral>) -> Result<()> {
    let accounts = ctx.accounts;
    let collateral = &mut accounts.collateral;
    let vault = tokens::read(&accounts.collateral_vault);
    let held = vault.as_ref().map_or(0, |vault| vault.amount);
    collateral.invariant(held)?;
    let again = collateral.returned;
    collateral.mark_returned(Clock::get()?.unix_timestamp, vault.is_some())?;
    let treasury_takes = !accounts.config.guardian_paused
        && tokens::can_receive(&accounts.treasury, &accounts.config.usdc_mint);
    let to_treasury = if treasury_takes { collateral.take_forfeits() } else { 0 };
    save(collateral)?;
    // Tokens that strangers sent to the vault go to the creator too: nobody else could ever claim them.
    let amount = held
        .saturating_sub(collateral.owed)
        .saturating_sub(collateral.forfeited)
        .saturating_sub(to_treasury);
    let transfer = TokenTransfer {
        authority: accounts.collateral_vault.to_account_info(),
        seeds: &collateral.vault_seeds(),
        token_program: &accounts.token_program,
    };
    transfer.send(&accounts.collateral_vault, &accounts.treasury, to_treasury)?;
    transfer.send(&accounts.collateral_vault, &accounts.destination, amount)?;
    let vault_closed = close_spent_vault(collateral, &accounts.rent_sponsor, &transfer)?;
    ensure!(vault_closed || !again, CollateralNotReturnable);
    collateral.invariant(tokens::balance(&accounts.collateral_vault))?;
    emit!(CollateralReturned {
        listing: collateral.listing,
        destination: accounts.destination.key(),
        amount,
        to_treasury,
        owed: collateral.owed,
        forfeited: collateral.forfeited,
        vault_closed,
    });
    Ok(())
}

/// Close the vault if it is no longer needed and empty. Its rent goes to the account that paid it, else to the collateral. If
/// neither can take it after a rent increase, the vault stays until the next try. Returns true if the vault was closed.
pub fn close_spent_vault<'info>(
    collateral: &Account<'info, CreatorCollateral>,
    rent_sponsor: &AccountInfo<'info>,
    transfer: &TokenTransfer<'_, 'info>,
) -> Result<bool> {
    let vault = &transfer.authority;
    let takers = [rent_sponsor, collateral.as_ref()];
    match first_taker(vault, takers)? {
        Some(rent_to) if collateral.is_spent() && tokens::balance(vault) == 0 => {
            transfer.close(vault, rent_to).map(|()| true)
        }
        _ => Ok(false),
    }
}

//! Pays an upheld dispute's award that is owed because the caller's account could not receive it. Anyone may call it.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::save;
use crate::errors::MarketplaceError;
use crate::events::DisputeAwardClaimed;
use crate::guard::fail;
use crate::instructions::return_collateral::close_spent_vault;
use crate::state::{Config, CreatorCollateral, Dispute};
use crate::tokens::{self, TokenTransfer};

/// Accounts of `claim_dispute_award`.
#[derive(Accounts)]
pub struct ClaimDisputeAward<'info> {
    /// Anyone. Only the caller may choose a destination other than the caller's associated token account.
    pub authority: Signer<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(mut, seeds = [DISPUTE_SEED, dispute.record.as_ref()], bump = dispute.bump)]
    pub dispute: Box<Account<'info, Dispute>>,
    #[account(
        mut,
        seeds = [COLLATERAL_SEED, dispute.listing.as_ref()],
        bump = collateral.bump,
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// CHECK: the listing's vault, by its seeds.
    #[account(mut, seeds = [COLLATERAL_VAULT_SEED, dispute.listing.as_ref()], bump = collateral.vault_bump)]
    pub collateral_vault: UncheckedAccount<'info>,
    /// CHECK: the caller's associated token account, or any of its USDC accounts if the caller signs; see `validate`.
    #[cfg_attr(
        feature = "idl-build",
        account(
            seeds = [dispute.caller.as_ref(), token_program.key().as_ref(), config.usdc_mint.as_ref()],
            seeds::program = anchor_spl::associated_token::ID,
            bump
        )
    )]
    #[account(mut)]
    pub destination: UncheckedAccount<'info>,
    /// CHECK: the account that paid the vault's rent, by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl ClaimDisputeAward<'_> {
    /// destination is the caller's and can receive; `take_owed` checks that an award is owed.
    pub fn validate(&self) -> Result<()> {
        let (mint, caller) = (&self.config.usdc_mint, &self.dispute.caller);
        ensure!(
            self.authority.key == caller || tokens::is_associated(&self.destination, mint, caller),
            WrongDestination
        );
        ensure!(tokens::can_receive_for(&self.destination, mint, caller), DestinationUnusable);
        Ok(())
    }
}

/// Pay the award, and close the vault if it is no longer needed.
pub fn claim_dispute_award_handler(ctx: Context<ClaimDisputeAward>) -> Result<()> {
    let accounts = ctx.accounts;
    let collateral = &mut accounts.collateral;
    collateral.invariant(tokens::balance(&accounts.collateral_vault))?;
    let amount = accounts.dispute.take_owed()?;
    accounts.dispute.invariant()?;
    save(&accounts.dispute)?;
    collateral.pay_owed(amount)?;
    save(collateral)?;
    let transfer = TokenTransfer {
        authority: accounts.collateral_vault.to_account_info(),
        seeds: &collateral.vault_seeds(),
        token_program: &accounts.token_program,
    };
    transfer.send(&accounts.collateral_vault, &accounts.destination, amount)?;
    let vault_closed = close_spent_vault(collateral, &accounts.rent_sponsor, &transfer)?;
    collateral.invariant(tokens::balance(&accounts.collateral_vault))?;
    let dispute = &accounts.dispute;
    emit!(DisputeAwardClaimed {
        dispute: dispute.key(),
        record: dispute.record,
        listing: dispute.listing,
        caller: dispute.caller,
        amount,
        vault_closed,
    });
    Ok(())
}

//! Adds to a listing's collateral: after a slash, or before a price that needs more.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::save;
use crate::errors::MarketplaceError;
use crate::events::CollateralToppedUp;
use crate::guard::fail;
use crate::state::{AgentListing, CreatorCollateral, ListingStatus};
use crate::tokens::{self, TokenTransfer};

/// Arguments of `top_up_collateral`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct TopUpCollateralArgs {
    /// Base units.
    pub amount: u64,
}

/// Accounts of `top_up_collateral`.
#[derive(Accounts)]
pub struct TopUpCollateral<'info> {
    /// The creator's wallet; owns `source`.
    pub creator: Signer<'info>,
    #[account(
        seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()],
        bump = listing.bump,
        has_one = creator @ fail(MarketplaceError::NotCreator)
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(mut, seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// CHECK: the listing's vault, by its seeds.
    #[account(mut, seeds = [COLLATERAL_VAULT_SEED, listing.key().as_ref()], bump = collateral.vault_bump)]
    pub collateral_vault: UncheckedAccount<'info>,
    /// CHECK: a USDC account of the creator that holds the amount; checked in `validate`.
    #[account(mut)]
    pub source: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl TopUpCollateral<'_> {
    /// listing is not delisted; the amount is above zero; source is the creator's, of the vault's mint, and covers it.
    pub fn validate(&self, args: &TopUpCollateralArgs) -> Result<()> {
        ensure!(self.listing.status != ListingStatus::Delisted, ListingDelisted);
        ensure!(args.amount > 0, InvalidAmount);
        let mint = tokens::read(&self.collateral_vault).map_or(Pubkey::default(), |it| it.mint);
        let source = tokens::require_owned(
            &self.source,
            &mint,
            self.creator.key,
            MarketplaceError::InvalidDepositSource,
        )?;
        ensure!(source.amount >= args.amount, InsufficientBalance);
        Ok(())
    }
}

/// Move the amount into the vault, and record it.
pub fn top_up_collateral_handler(
    ctx: Context<TopUpCollateral>,
    args: TopUpCollateralArgs,
) -> Result<()> {
    let accounts = ctx.accounts;
    let collateral = &mut accounts.collateral;
    collateral.top_up(args.amount)?;
    save(collateral)?;
    let transfer = TokenTransfer {
        authority: accounts.creator.to_account_info(),
        seeds: &[],
        token_program: &accounts.token_program,
    };
    transfer.send(&accounts.source, &accounts.collateral_vault, args.amount)?;
    collateral.invariant(tokens::balance(&accounts.collateral_vault))?;
    emit!(CollateralToppedUp {
        listing: collateral.listing,
        amount: args.amount,
        deposited: collateral.deposited,
        slashed: collateral.slashed,
    });
    Ok(())
}

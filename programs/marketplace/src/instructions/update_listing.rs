//! Changes what a listing promises or where it is paid. Executions that are open keep what they paid for.

use anchor_lang::prelude::*;
use anchor_spl::token::TokenAccount;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::ListingUpdated;
use crate::state::{AgentListing, Config, CreatorCollateral, ListingStatus, ListingTerms};

/// Arguments of `update_listing`: all terms, those that stay too.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct UpdateListingArgs {
    /// The terms from now on.
    pub terms: ListingTerms,
}

/// Accounts of `update_listing`.
#[derive(Accounts)]
pub struct UpdateListing<'info> {
    pub creator: Signer<'info>,
    #[account(seeds = [CONFIG_SEED], bump = config.bump)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()],
        bump = listing.bump,
        has_one = creator @ MarketplaceError::NotCreator
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// The account that settlements pay from now on; may be the present one.
    #[account(
        constraint = payout.owner == creator.key() && payout.mint == config.usdc_mint
            @ MarketplaceError::InvalidPayout
    )]
    pub payout: Box<Account<'info, TokenAccount>>,
}

impl UpdateListing<'_> {
    /// creator and payout by their constraints; listing not delisted; a new price needs its tier's collateral.
    pub fn validate(&self, args: &UpdateListingArgs) -> Result<()> {
        require!(
            self.listing.status != ListingStatus::Delisted,
            MarketplaceError::ListingDelisted
        );
        args.terms.validate(&self.config)?;
        if args.terms.price != self.listing.price {
            self.collateral
                .require_deposit(self.config.tier_deposit(args.terms.price)?)?;
        }
        Ok(())
    }
}

/// Take the new terms and payout account.
pub fn update_listing_handler(ctx: Context<UpdateListing>, args: UpdateListingArgs) -> Result<()> {
    let payout = ctx.accounts.payout.key();
    let listing = &mut ctx.accounts.listing;
    listing.payout = payout;
    listing.apply_terms(args.terms)?;
    emit!(ListingUpdated {
        listing: listing.key(),
        payout,
        price: listing.price,
        timeout_seconds: listing.timeout_seconds,
        min_timeout_seconds: listing.min_timeout_seconds,
        tag_mask: listing.tag_mask,
        listing_version: listing.listing_version,
        metadata_hash: listing.metadata_hash,
        metadata_uri: listing.metadata_uri.clone(),
    });
    Ok(())
}

//! Changes a listing's terms or payout account. Open executions keep the terms that they paid for.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::ListingUpdated;
use crate::guard::fail;
use crate::state::{AgentListing, Config, CreatorCollateral, ListingStatus, ListingTerms};
use crate::tokens;

/// Arguments of `update_listing`: all terms, also unchanged ones.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct UpdateListingArgs {
    /// Most collateral that the creator agrees to keep for a higher price, base units.
    pub max_deposit: u64,
    /// The terms from now on.
    pub terms: ListingTerms,
}

/// Accounts of `update_listing`.
#[derive(Accounts)]
pub struct UpdateListing<'info> {
    pub creator: Signer<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [LISTING_SEED, listing.creator.as_ref(), listing.listing_id.as_ref()],
        bump = listing.bump,
        has_one = creator @ fail(MarketplaceError::NotCreator)
    )]
    pub listing: Box<Account<'info, AgentListing>>,
    #[account(seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// The account that settlements pay from now on; may be the current one.
    /// CHECK: a USDC account of the creator; checked in `validate`.
    pub payout: UncheckedAccount<'info>,
}

impl UpdateListing<'_> {
    /// listing is not delisted; payout is the creator's; collateral covers a new price. A higher price requires at most
    /// `max_deposit`.
    pub fn validate(&self, args: &UpdateListingArgs) -> Result<()> {
        ensure!(self.listing.status != ListingStatus::Delisted, ListingDelisted);
        tokens::require_owned(
            &self.payout,
            &self.config.usdc_mint,
            self.creator.key,
            MarketplaceError::InvalidPayout,
        )?;
        args.terms.validate(&self.config)?;
        if args.terms.price != self.listing.price {
            let deposit = self.config.tier_deposit(args.terms.price)?;
            ensure!(
                deposit <= args.max_deposit || args.terms.price < self.listing.price,
                DepositAboveMax
            );
            self.collateral.require_deposit(deposit)?;
        }
        Ok(())
    }
}

/// Apply the new terms and payout account.
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

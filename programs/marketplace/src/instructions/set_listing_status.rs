//! Pauses or resumes a listing. Executions that are open are not affected.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::ListingStatusChanged;
use crate::guard::fail;
use crate::state::{AgentListing, Config, CreatorCollateral, ListingStatus};

/// Arguments of `set_listing_status`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct SetListingStatusArgs {
    /// Active or Paused; `delist_agent` delists.
    pub status: ListingStatus,
}

/// Accounts of `set_listing_status`.
#[derive(Accounts)]
pub struct SetListingStatus<'info> {
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
}

impl SetListingStatus<'_> {
    /// Resuming requires the collateral for the price; the constraints check the rest.
    pub fn validate(&self, args: &SetListingStatusArgs) -> Result<()> {
        ensure!(args.status != ListingStatus::Delisted, InvalidListingTransition);
        if args.status == ListingStatus::Active {
            self.collateral.require_deposit(self.config.tier_deposit(self.listing.price)?)?;
        }
        Ok(())
    }
}

/// Set the status.
pub fn set_listing_status_handler(
    ctx: Context<SetListingStatus>,
    args: SetListingStatusArgs,
) -> Result<()> {
    let listing = &mut ctx.accounts.listing;
    listing.set_status(args.status)?;
    emit!(ListingStatusChanged { listing: listing.key(), status: listing.status as u8 });
    Ok(())
}

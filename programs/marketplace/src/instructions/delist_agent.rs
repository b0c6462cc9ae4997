//! Delists an agent permanently. Open executions continue. The collateral stays until no dispute window can be open
//! any more.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::AgentDelisted;
use crate::guard::fail;
use crate::state::{AgentListing, Config, CreatorCollateral, ListingStatus};

/// Accounts of `delist_agent`.
#[derive(Accounts)]
pub struct DelistAgent<'info> {
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
    #[account(mut, seeds = [COLLATERAL_SEED, listing.key().as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
}

/// Delist, and set the time from which the collateral can go back.
pub fn delist_agent_handler(ctx: Context<DelistAgent>) -> Result<()> {
    let accounts = ctx.accounts;
    let now = Clock::get()?.unix_timestamp;
    accounts.listing.set_status(ListingStatus::Delisted)?;
    accounts.collateral.delist(now, accounts.config.longest_span_seconds);
    emit!(AgentDelisted {
        listing: accounts.listing.key(),
        returnable_at: accounts.collateral.returnable_at,
    });
    Ok(())
}

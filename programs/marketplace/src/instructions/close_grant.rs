//! Ends a key's spending right, if it is not revoked yet, and returns the account's rent.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::GrantClosed;
use crate::guard::fail;
use crate::state::KeyGrant;

/// Accounts of `close_grant`.
#[derive(Accounts)]
pub struct CloseGrant<'info> {
    /// The grant's wallet.
    pub wallet: Signer<'info>,
    #[account(
        mut,
        seeds = [GRANT_SEED, grant.wallet.as_ref(), grant.key_id.as_ref()],
        bump = grant.bump,
        close = rent_sponsor,
        has_one = wallet @ fail(MarketplaceError::NotGrantWallet),
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub grant: Box<Account<'info, KeyGrant>>,
    /// CHECK: the account that paid the grant's rent, by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
}

impl CloseGrant<'_> {
    /// No execution was opened with the grant in this second; the constraints check the rest.
    pub fn validate(&self) -> Result<()> {
        self.grant.require_closable(Clock::get()?.unix_timestamp)
    }
}

/// Emit the event. Anchor closes the account when the instruction ends.
pub fn close_grant_handler(ctx: Context<CloseGrant>) -> Result<()> {
    let grant = &ctx.accounts.grant;
    emit!(GrantClosed { grant: grant.key(), wallet: grant.wallet, key_id: grant.key_id });
    Ok(())
}

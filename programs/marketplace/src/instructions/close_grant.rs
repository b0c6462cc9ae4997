//! Ends a key's right, if it was not ended yet, and gives the account's rent back.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::GrantClosed;
use crate::guard::fail;
use crate::packing::emit;
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
    /// CHECK: who paid the grant's rent, by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
}

impl CloseGrant<'_> {
    /// No execution was opened with it in this second; all else by the constraints.
    pub fn validate(&self) -> Result<()> {
        self.grant.require_closable(Clock::get()?.unix_timestamp)
    }
}

/// Say so; the account is closed on the way out.
pub fn close_grant_handler(ctx: Context<CloseGrant>) -> Result<()> {
    let grant = &ctx.accounts.grant;
    emit(&GrantClosed {
        grant: grant.key(),
        wallet: grant.wallet,
        key_id: grant.key_id,
    })
}

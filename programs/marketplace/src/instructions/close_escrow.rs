//! Closes a handed-over escrow account that its caller has emptied, and returns its rent to the account
//! that lent it. Anyone may call it. The record is not needed, because it may be closed by then.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::EscrowClosed;
use crate::guard::fail;
use crate::packing::emit;
use crate::tokens::{self, TokenTransfer};

/// Accounts of `close_escrow`.
#[derive(Accounts)]
pub struct CloseEscrow<'info> {
    /// CHECK: only its address is used, as a seed of the escrow's address.
    pub record: UncheckedAccount<'info>,
    /// CHECK: the record's escrow, by its seeds; handed over and empty, checked in `validate`.
    #[account(mut, seeds = [ESCROW_SEED, record.key().as_ref()], bump)]
    pub escrow: UncheckedAccount<'info>,
    /// CHECK: an address without data, by its seeds; it signs as the escrow's close authority.
    #[account(seeds = [CLOSER_SEED, rent_sponsor.key().as_ref()], bump)]
    pub closer: UncheckedAccount<'info>,
    /// CHECK: the account that lent the escrow's rent, by the seeds of closer; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl CloseEscrow<'_> {
    /// escrow was handed over, rent_sponsor lent its rent, and the caller has emptied it.
    pub fn validate(&self) -> Result<()> {
        let escrow = tokens::read(&self.escrow)
            .filter(|escrow| escrow.close_authority.is_some())
            .ok_or_else(|| fail(MarketplaceError::EscrowNotHandedOver))?;
        ensure!(
            escrow.close_authority.contains(self.closer.key),
            MarketplaceError::WrongRentSponsor
        );
        ensure!(escrow.amount == 0, MarketplaceError::EscrowNotEmpty);
        Ok(())
    }
}

/// Close the escrow and emit the event.
pub fn close_escrow_handler(ctx: Context<CloseEscrow>) -> Result<()> {
    let accounts = ctx.accounts;
    let lamports = accounts.escrow.lamports();
    let rent_sponsor = accounts.rent_sponsor.key();
    let transfer = TokenTransfer {
        authority: accounts.closer.to_account_info(),
        seeds: &[CLOSER_SEED, rent_sponsor.as_ref(), &[ctx.bumps.closer]],
        token_program: &accounts.token_program,
    };
    transfer.close(&accounts.escrow, &accounts.rent_sponsor)?;
    emit(&EscrowClosed {
        record: accounts.record.key(),
        rent_sponsor,
        lamports,
    })
}

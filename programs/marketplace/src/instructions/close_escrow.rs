//! Closes an escrow account that was handed over, once its caller has emptied it; its rent goes to who lent it. Anyone
//! may call it; the record, which may be gone by then, is not needed.

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
    /// CHECK: only its address counts, which makes that of the escrow.
    pub record: UncheckedAccount<'info>,
    /// CHECK: at its address by its seeds; handed over and empty, checked in `validate`.
    #[account(mut, seeds = [ESCROW_SEED, record.key().as_ref()], bump)]
    pub escrow: UncheckedAccount<'info>,
    /// CHECK: an address without data, by its seeds; it signs as the escrow's close authority.
    #[account(seeds = [CLOSER_SEED, rent_sponsor.key().as_ref()], bump)]
    pub closer: UncheckedAccount<'info>,
    /// CHECK: who lent the escrow's rent, by closer; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl CloseEscrow<'_> {
    /// escrow was handed over, its rent is rent_sponsor's, and its caller has emptied it.
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

/// Close it and say so.
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

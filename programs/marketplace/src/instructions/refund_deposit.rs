//! Refunds a deposit that opened no execution. While a paid deposit can still open one, only the relay can refund it;
//! after that anyone can.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::events::DepositRefunded;
use crate::guard::fail;
use crate::instructions::move_unclaimed_refund::MoveOfRefund;
use crate::state::{can_close_deposit, close_deposit, Config, Deposit};
use crate::tokens::{self, TokenTransfer};

/// Accounts of `refund_deposit`.
#[derive(Accounts)]
pub struct RefundDeposit<'info> {
    /// A relay authority; or anyone once a paid deposit has expired, or a day after an unpaid one was prepared.
    pub authority: Signer<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [DEPOSIT_SEED, deposit.hash.as_ref()],
        bump = deposit.bump,
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub deposit: Box<Account<'info, Deposit>>,
    /// CHECK: the deposit's associated token account, by its seeds.
    #[account(
        mut,
        seeds = [deposit.key().as_ref(), token_program.key().as_ref(), config.usdc_mint.as_ref()],
        seeds::program = anchor_spl::associated_token::ID,
        bump = deposit.vault_bump
    )]
    pub vault: UncheckedAccount<'info>,
    /// CHECK: the caller's associated token account, or any of its USDC accounts if the caller signs; see `validate`.
    #[cfg_attr(
        feature = "idl-build",
        account(
            seeds = [deposit.caller.as_ref(), token_program.key().as_ref(), config.usdc_mint.as_ref()],
            seeds::program = anchor_spl::associated_token::ID,
            bump
        )
    )]
    #[account(mut)]
    pub destination: UncheckedAccount<'info>,
    /// CHECK: the treasury, by its address; gets what `to_treasury` says.
    #[account(mut, address = TREASURY_ADDRESS)]
    pub treasury: UncheckedAccount<'info>,
    /// CHECK: the deposit's rent sponsor, by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl RefundDeposit<'_> {
    /// authority may refund now; destination is the caller's and can receive, unless nothing is sent to it; the
    /// constraints check the rest.
    pub fn validate(&self) -> Result<()> {
        let (mint, deposit) = (&self.config.usdc_mint, self.deposit.key());
        let held = tokens::require_vault(&self.vault, mint, &deposit)?;
        let authority = self.authority.key;
        let now = Clock::get()?.unix_timestamp;
        ensure!(
            self.config.is_relay_authority(authority) || self.deposit.is_refundable(held, now),
            DepositNotExpired
        );
        let (mint, caller) = (&self.config.usdc_mint, &self.deposit.caller);
        ensure!(
            authority == caller || tokens::is_associated(&self.destination, mint, caller),
            WrongRefundDestination
        );
        ensure!(held == self.to_treasury(held) || self.can_deliver(), RefundDestinationUnusable);
        Ok(())
    }

    /// destination can receive the caller's USDC.
    fn can_deliver(&self) -> bool {
        let (mint, caller) = (&self.config.usdc_mint, &self.deposit.caller);
        tokens::can_receive_for(&self.destination, mint, caller)
    }

    /// The treasury's share of the vault, if a relay refunds: the service fee of a paid deposit; all of an unpaid one
    /// whose destination cannot receive, because a stranger could otherwise lock the rent with one base unit. It is 0
    /// if the treasury cannot receive, so that it does not block the refund.
    fn to_treasury(&self, held: u64) -> u64 {
        let by_relay = self.config.is_relay_authority(self.authority.key);
        if !by_relay || !tokens::can_receive(&self.treasury, &self.config.usdc_mint) {
            return 0;
        }
        match (self.deposit.is_funded(held), self.can_deliver()) {
            (true, _) => self.deposit.service_fee,
            (false, true) => 0,
            (false, false) => held,
        }
    }
}

/// Move everything out, and close the deposit.
pub fn refund_deposit_handler(ctx: Context<RefundDeposit>) -> Result<()> {
    ctx.accounts.refund(None)
}

impl<'info> RefundDeposit<'info> {
    /// Give the vault's balance to the caller, or to the unclaimed refunds, and close the deposit.
    pub fn refund(&self, mut unclaimed: Option<MoveOfRefund<'_, 'info>>) -> Result<()> {
        let deposit = &self.deposit;
        let transfer = TokenTransfer {
            authority: deposit.to_account_info(),
            seeds: &deposit.seeds(),
            token_program: &self.token_program,
        };
        let held = tokens::balance(&self.vault);
        let service_fee = self.to_treasury(held);
        let amount = held
            .checked_sub(service_fee)
            .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
        let now = Clock::get()?.unix_timestamp;
        let destination =
            unclaimed.as_ref().map_or(&*self.destination, |unclaimed| unclaimed.account()).clone();
        let leaf = match &mut unclaimed {
            Some(unclaimed) => {
                Some(unclaimed.append(deposit.key(), deposit.caller, amount, now)?)
            }
            None => None,
        };
        transfer.send(&self.vault, &self.treasury, service_fee)?;
        transfer.send(&self.vault, &destination, amount)?;
        // A rent sponsor that cannot take the rent must not block the caller's refund.
        let closed = can_close_deposit(&transfer.authority, &self.vault, &self.rent_sponsor)?;
        ensure!(closed || held > 0, InvalidRentSponsor);
        let event = DepositRefunded {
            deposit: deposit.key(),
            caller: deposit.caller,
            destination: destination.key(),
            amount,
            service_fee,
            refunded_at: now,
            closed,
            unclaimed: leaf,
        };
        // Before the rent: the runtime refuses calls by a program that has moved lamports already.
        match &unclaimed {
            Some(unclaimed) => unclaimed.send(&event)?,
            None => emit!(event),
        }
        close_deposit(deposit, &self.vault, &self.rent_sponsor, &transfer).map(|_| ())
    }
}

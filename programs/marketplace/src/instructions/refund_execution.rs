//! Refunds an escrow to its caller. Before `refund_at` only the relay can do it; from then on anyone can.

use anchor_lang::prelude::*;
use anchor_spl::token::Token;

use crate::constants::*;
use crate::creation::{read_state, save, write_state};
use crate::errors::MarketplaceError;
use crate::events::ExecutionRefunded;
use crate::guard::fail;
use crate::instructions::move_unclaimed_refund::MoveOfRefund;
use crate::state::{
    close_empty_escrow, divide_gas, require_spender, Config, CreatorCollateral, ExecutionRecord,
    KeyGrant, RefundReason,
};
use crate::tokens::{self, TokenTransfer};

/// Arguments of `refund_execution`.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct RefundExecutionArgs {
    /// Reason of the refund; always `Expired` if the authority is not a relay authority.
    pub reason: RefundReason,
    /// Lamports of the record's gas that a relay authority takes. The rest goes back to the gas balance that paid it, or
    /// to the rent sponsor if no grant paid. Counts only if the authority is a relay authority.
    pub gas_lamports: u32,
}

/// Accounts of `refund_execution`.
#[derive(Accounts)]
pub struct RefundExecution<'info> {
    /// A relay authority, which takes its part of the gas, or anyone from `refund_at` on.
    #[account(mut)]
    pub authority: Signer<'info>,
    #[account(address = CONFIG_ADDRESS)]
    pub config: Box<Account<'info, Config>>,
    #[account(
        mut,
        seeds = [EXECUTION_SEED, record.execution_id.as_ref()],
        bump = record.bump,
        has_one = rent_sponsor @ fail(MarketplaceError::WrongRentSponsor)
    )]
    pub record: Box<Account<'info, ExecutionRecord>>,
    #[account(mut, seeds = [COLLATERAL_SEED, record.listing.as_ref()], bump = collateral.bump)]
    pub collateral: Box<Account<'info, CreatorCollateral>>,
    /// CHECK: the record's escrow, by its seeds; a token account until the record has ended.
    #[account(mut, seeds = [ESCROW_SEED, record.key().as_ref()], bump = record.escrow_bump)]
    pub escrow: UncheckedAccount<'info>,
    /// CHECK: the caller's associated token account, or any of its USDC accounts if the caller signs; see `validate`.
    #[cfg_attr(
        feature = "idl-build",
        account(
            seeds = [record.caller.as_ref(), token_program.key().as_ref(), config.usdc_mint.as_ref()],
            seeds::program = anchor_spl::associated_token::ID,
            bump
        )
    )]
    #[account(mut)]
    pub destination: UncheckedAccount<'info>,
    /// The grant that paid. A closed or revoked grant gets nothing back. If no grant paid, any account will do.
    /// CHECK: address derived from the record's caller and key, checked in `validate`.
    #[cfg_attr(
        feature = "idl-build",
        account(seeds = [GRANT_SEED, record.caller.as_ref(), record.key_id.as_ref()], bump)
    )]
    #[account(mut)]
    pub grant: UncheckedAccount<'info>,
    /// The wallet's `Spender`, whose lamports paid fee and gas, and may have lent the escrow's rent. If no grant paid,
    /// any account will do.
    /// CHECK: the caller's `Spender` address, by its seeds; checked in `validate`; only receives lamports.
    #[cfg_attr(feature = "idl-build", account(seeds = [SPENDER_SEED, record.caller.as_ref()], bump))]
    #[account(mut)]
    pub spender: UncheckedAccount<'info>,
    /// CHECK: the record's rent sponsor, by has_one; only receives lamports.
    #[account(mut)]
    pub rent_sponsor: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token>,
}

impl<'info> RefundExecution<'info> {
    /// authority may refund now, and a relay takes no more than the gas; destination is the caller's and can receive; the constraints check the rest.
    pub fn validate(&self, args: &RefundExecutionArgs) -> Result<()> {
        let authority = self.authority.key();
        let now = Clock::get()?.unix_timestamp;
        ensure!(
            now >= self.record.refund_at || self.config.is_relay_authority(&authority),
            RefundTooEarly
        );
        let (mint, caller) = (&self.config.usdc_mint, &self.record.caller);
        ensure!(
            authority == *caller || tokens::is_associated(&self.destination, mint, caller),
            WrongRefundDestination
        );
        ensure!(
            tokens::can_receive_for(&self.destination, mint, caller),
            RefundDestinationUnusable
        );
        self.require_givers(args)
    }

    /// If a grant paid, grant and spender are those that paid price and gas. A relay takes no more than the gas.
    pub fn require_givers(&self, args: &RefundExecutionArgs) -> Result<()> {
        if self.is_by_relay() {
            self.record.require_gas(args.gas_lamports)?;
        }
        if self.record.is_by_grant() {
            self.require_grant_and_spender()?;
        }
        Ok(())
    }

    fn is_by_relay(&self) -> bool {
        self.config.is_relay_authority(self.authority.key)
    }

    /// `grant` is the grant that paid, or its address if it was closed, and `spender` is its wallet's. An existing grant
    /// stores the bumps of both, so addresses are searched only for a closed one.
    fn require_grant_and_spender(&self) -> Result<()> {
        let (caller, key_id) = (&self.record.caller, &self.record.key_id);
        let spender_bump = if let Some(grant) = read_state::<KeyGrant>(&self.grant) {
            ensure!(
                grant.wallet == *caller && grant.key_id == *key_id && grant.is_at(self.grant.key),
                WrongGrant
            );
            Some(grant.spender_bump)
        } else {
            let seeds = [GRANT_SEED, caller.as_ref(), key_id.as_ref()];
            ensure!(
                self.grant.key() == Pubkey::find_program_address(&seeds, &crate::ID).0,
                WrongGrant
            );
            None
        };
        require_spender(self.spender.key, caller, spender_bump)
    }

    /// The possible receivers of the gas, in order: a relay authority that ends it; the gas balance that
    /// paid it; the caller, if it signs and its gas balance cannot take so little; the rent sponsor.
    fn gas_receivers<'a>(&'a self, by_relay: bool) -> impl Iterator<Item = &'a AccountInfo<'info>> {
        let authority = self.authority.as_ref();
        let spender = self.record.is_by_grant().then_some(self.spender.as_ref());
        let caller = spender.is_some() && *authority.key == self.record.caller;
        [by_relay.then_some(authority), spender, caller.then_some(authority)]
            .into_iter()
            .flatten()
            .chain([self.rent_sponsor.as_ref()])
    }
}

/// Move everything back and close the escrow.
pub fn refund_execution_handler(
    ctx: Context<RefundExecution>,
    args: RefundExecutionArgs,
) -> Result<()> {
    ctx.accounts.refund(&args, None)
}

impl<'info> RefundExecution<'info> {
    /// End the record, lower the grant's spend and the listing's exposure, and give the escrow's balance to its caller, or
    /// to the unclaimed refunds.
    pub fn refund(
        &mut self,
        args: &RefundExecutionArgs,
        mut unclaimed: Option<MoveOfRefund<'_, 'info>>,
    ) -> Result<()> {
        let now = Clock::get()?.unix_timestamp;
        let record = &mut self.record;
        record.refund(now)?;
        save(record)?;
        let restored = restore_grant(&self.grant, record)?;
        let collateral = &mut self.collateral;
        collateral.return_exposure(record.price, record.opened_at);
        save(collateral)?;
        let by_relay = self.is_by_relay();
        let (reason, taken) = if by_relay {
            (args.reason, args.gas_lamports)
        } else {
            (RefundReason::Expired, self.record.gas_lamports)
        };
        // The whole balance goes back, even if it is not the price: nothing may block a refund.
        let amount =
            tokens::read(&self.escrow).ok_or_else(|| fail(MarketplaceError::RecordUnsound))?.amount;
        let destination =
            unclaimed.as_ref().map_or(&*self.destination, |unclaimed| unclaimed.account()).clone();
        let record = &self.record;
        let leaf = match &mut unclaimed {
            Some(unclaimed) => Some(unclaimed.append(record.key(), record.caller, amount, now)?),
            None => None,
        };
        self.send_back(amount, &destination)?;
        record.invariant(tokens::held_for(&self.escrow, &record.key()))?;
        let giver = if record.is_by_grant() { &self.spender } else { &self.rent_sponsor };
        let gas = divide_gas(record, taken, giver, self.gas_receivers(by_relay))?;
        let event = ExecutionRefunded {
            record: record.key(),
            execution_id: record.execution_id,
            listing: record.listing,
            caller: record.caller,
            amount,
            reason: reason as u8,
            refunded_at: now,
            grant_restored: restored.is_some(),
            grant_total_spent: restored.map_or(0, |(total, _)| total),
            grant_period_spent: restored.map_or(0, |(_, period)| period),
            exposure_window_start: self.collateral.exposure_window_start,
            exposure_opened: self.collateral.exposure_opened,
            gas_to: gas.to(),
            gas_lamports: gas.lamports,
            gas_returned: gas.returned,
            unclaimed: leaf,
        };
        // Before the gas: the runtime refuses calls by a program that has moved lamports already.
        match &unclaimed {
            Some(unclaimed) => unclaimed.send(&event)?,
            None => emit!(event),
        }
        gas.pay(record)
    }

    /// Move the escrow's balance, and close the escrow.
    fn send_back(&self, amount: u64, destination: &AccountInfo<'info>) -> Result<()> {
        let transfer = TokenTransfer {
            authority: self.record.to_account_info(),
            seeds: &self.record.seeds(),
            token_program: &self.token_program,
        };
        transfer.send(&self.escrow, destination, amount)?;
        let takers = [self.spender.as_ref(), self.rent_sponsor.as_ref()];
        close_empty_escrow(&self.record, &self.escrow, takers, &transfer)
    }
}

/// Subtract the price from the spend of the grant that paid, if that grant still exists and is not revoked. Returns the
/// grant's total and period spend after it.
/// A missing grant must not block a refund, so nothing here fails.
fn restore_grant(account: &AccountInfo, record: &ExecutionRecord) -> Result<Option<(u64, u64)>> {
    if record.key_id == [0; 16] {
        return Ok(None);
    }
    let Some(mut grant) = read_state::<KeyGrant>(account) else {
        return Ok(None);
    };
    if !grant.restore(record.price, record.opened_at) {
        return Ok(None);
    }
    // No invariant here: the spend only falls, and the limits may have been lowered below it since.
    write_state(account, &grant)?;
    Ok(Some((grant.total_spent, grant.period_spent)))
}

//! The common part of every open: its checks, the new record and escrow, the price's move and the event.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::creation::{create_account, create_token_account, save, space_of, write_state, Funder};
use crate::events::ExecutionOpened;
use crate::instructions::open_execution::OpenExecutionArgs;
use crate::state::{
    AgentListing, Config, CreatorCollateral, ExecutionRecord, ExecutionStatus, KeyGrant,
    ListingStatus,
};
use crate::tokens::{self, TokenTransfer};

/// The checks of listing, time, gas and id that all opens share.
pub fn validate_open(
    args: &OpenExecutionArgs,
    config: &Config,
    listing: &AgentListing,
    caller: &Pubkey,
) -> Result<()> {
    ensure!(!config.opens_paused(), OpensPaused);
    ensure!(listing.status == ListingStatus::Active, ListingNotActive);
    ensure!(listing.price <= args.max_price, PriceAboveMax);
    ensure!(listing.listing_version == args.listing_version, ListingVersionMismatch);
    listing.check_timeout(args.timeout_seconds)?;
    // A listing may keep a timeout above a lowered maximum. Delisting relies on no open exceeding the maximum.
    ensure!(args.timeout_seconds <= config.max_timeout_seconds, TimeoutOutOfRange);
    let now = Clock::get()?.unix_timestamp;
    ensure!(now <= args.open_before, OpenTooLate);
    ensure!(args.gas_lamports <= MAX_GAS_LAMPORTS, GasOutOfBounds);
    ExecutionRecord::require_fresh_nonce(&args.nonce, now)?;
    let expected = ExecutionRecord::derive_id(caller, &args.nonce);
    ensure!(expected == args.execution_id, WrongExecutionId);
    Ok(())
}

/// The rent sponsor can receive lamports, and is neither the record nor the escrow, which cannot
/// close to themselves. An account that cannot be credited would block the money of others. A
/// constraint checks that it is writable, which the runtime does not allow for its own accounts.
pub fn require_rent_sponsor(
    rent_sponsor: &AccountInfo,
    record: &AccountInfo,
    escrow: &AccountInfo,
) -> Result<()> {
    ensure!(
        !rent_sponsor.executable
            && rent_sponsor.key != record.key
            && rent_sponsor.key != escrow.key,
        InvalidRentSponsor
    );
    Ok(())
}

/// The parts of an open that differ between instructions.
pub struct Opening<'a, 'info> {
    pub args: &'a OpenExecutionArgs,
    pub caller: Pubkey,
    /// The grant that paid, after its debit.
    pub grant: Option<&'a KeyGrant>,
    /// The account that lends the record's rent.
    pub lender: &'a Funder<'a, 'info>,
    /// The account that pays the gas.
    pub gas_giver: &'a Funder<'a, 'info>,
    /// The account that lends the escrow's rent.
    pub escrow_lender: &'a Funder<'a, 'info>,
    /// Bump of the caller's `Spender` if it lends the escrow's rent; otherwise 0.
    pub spender_bump: u8,
    /// Lamports that the gas balance paid to the payer.
    pub fee_lamports: u32,
    /// The account that gets the record's rent back, and the escrow's if the `Spender` did not lend it.
    pub rent_sponsor: Pubkey,
    pub record: &'a AccountInfo<'info>,
    pub record_bump: u8,
    pub escrow: &'a AccountInfo<'info>,
    pub escrow_bump: u8,
    pub source: &'a AccountInfo<'info>,
    /// Base units that move from `source` into the escrow: at least the price.
    pub amount: u64,
    /// The deposit that the source belongs to; the zero key if a wallet owns the source.
    pub deposit: Pubkey,
    /// Base units of the deposit that went to the treasury.
    pub service_fee: u64,
    pub usdc_mint: &'a AccountInfo<'info>,
    pub now: i64,
}

impl<'info> Opening<'_, 'info> {
    /// Create record and escrow, move the price, and emit the event.
    pub fn fund(
        &self,
        config: &Config,
        listing: &Account<'info, AgentListing>,
        collateral: &mut Account<'info, CreatorCollateral>,
        transfer: &TokenTransfer<'_, 'info>,
    ) -> Result<()> {
        collateral.add_exposure(
            listing.price,
            config.exposure_multiple,
            config.dispute_window_seconds,
            self.now,
        )?;
        save(collateral)?;
        let record = self.new_record(config, listing);
        let record_key = self.record.key;
        self.create_record(&record)?;
        create_token_account(
            self.escrow_lender,
            self.escrow,
            &[ESCROW_SEED, record_key.as_ref(), &[record.escrow_bump]],
            self.usdc_mint,
            self.record,
            transfer.token_program,
        )?;
        transfer.send(self.source, self.escrow, self.amount)?;
        record.invariant(tokens::balance(self.escrow))?;
        emit!(ExecutionOpened {
            record: *record_key,
            execution_id: record.execution_id,
            listing: record.listing,
            caller: record.caller,
            signing_key: record.signing_key,
            key_id: record.key_id,
            rent_sponsor: record.rent_sponsor,
            price: record.price,
            fee_bps: record.fee_bps,
            listing_version: record.listing_version,
            request_hash: record.request_hash,
            opened_at: record.opened_at,
            deadline: record.deadline,
            refund_at: record.refund_at,
            dispute_window_seconds: record.dispute_window_seconds,
            gas_lamports: record.gas_lamports,
            fee_lamports: self.fee_lamports,
            spender_lends_escrow: record.spender_bump != 0,
            grant_execution_count: self.grant.map_or(0, |grant| grant.execution_count),
            grant_total_spent: self.grant.map_or(0, |grant| grant.total_spent),
            grant_period_start: self.grant.map_or(0, |grant| grant.period_start),
            grant_period_spent: self.grant.map_or(0, |grant| grant.period_spent),
            exposure_window_start: collateral.exposure_window_start,
            exposure_opened: collateral.exposure_opened,
            deposit: self.deposit,
            service_fee: self.service_fee,
        });
        Ok(())
    }

    /// Create the record with its rent and gas, in one call if one account pays both.
    fn create_record(&self, record: &ExecutionRecord) -> Result<()> {
        let seeds: &[&[u8]] = &[EXECUTION_SEED, record.execution_id.as_ref(), &[record.bump]];
        let gas = u64::from(record.gas_lamports);
        let together = self.lender.account.key == self.gas_giver.account.key;
        create_account(
            self.lender,
            self.record,
            seeds,
            space_of::<ExecutionRecord>(),
            &crate::ID,
            if together { gas } else { 0 },
        )?;
        if !together {
            self.gas_giver.send(self.record, gas)?;
        }
        write_state(self.record, record)
    }

    fn new_record(
        &self,
        config: &Config,
        listing: &Account<'info, AgentListing>,
    ) -> Box<ExecutionRecord> {
        let args = self.args;
        let deadline = self.now.saturating_add(i64::from(args.timeout_seconds));
        Box::new(ExecutionRecord {
            version: ACCOUNT_VERSION,
            status: ExecutionStatus::Open,
            bump: self.record_bump,
            escrow_bump: self.escrow_bump,
            spender_bump: self.spender_bump,
            execution_id: args.execution_id,
            listing: listing.key(),
            caller: self.caller,
            signing_key: listing.signing_key,
            key_id: self.grant.map_or([0; 16], |grant| grant.key_id),
            rent_sponsor: self.rent_sponsor,
            price: listing.price,
            request_hash: args.request_hash,
            result_hash: [0; 32],
            opened_at: self.now,
            deadline,
            refund_at: deadline.saturating_add(i64::from(config.refund_grace_seconds)),
            settled_at: 0,
            dispute_window_seconds: config.dispute_window_seconds,
            listing_version: listing.listing_version,
            execution_time_ms: 0,
            gas_lamports: args.gas_lamports,
            fee_bps: config.fee_bps,
        })
    }
}

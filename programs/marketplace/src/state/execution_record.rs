//! One paid call. Created when its escrow is funded; it never grows. An ended record never changes. A refunded one can
//! be closed from an hour after its open, a paid one archived `record_seconds` after its end. So a missing record never
//! means that nothing was paid. A dispute has an account of its own and changes nothing here.

use anchor_lang::prelude::*;
use solana_sha256_hasher::hashv;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::guard::fail;

mod ending;
mod head;

pub use ending::*;
pub use head::*;

/// Where an execution's money is.
#[derive(AnchorSerialize, AnchorDeserialize, InitSpace, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExecutionStatus {
    /// In escrow.
    Open,
    /// Paid to creator and marketplace.
    Completed,
    /// Back with the caller.
    Refunded,
}

impl ExecutionStatus {
    /// The allowed transitions.
    pub fn can_become(self, next: Self) -> bool {
        self == Self::Open && next != Self::Open
    }
}

/// Reason of a refund. The event contains it, so that listings are judged only for their own faults.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RefundReason {
    /// The creator answered that it failed, or with a server error.
    CreatorFailed,
    /// The creator did not answer in time.
    CreatorTimeout,
    /// The creator's answer was not a valid signed result.
    InvalidAnswer,
    /// The creator's payout account cannot receive.
    PayoutUnusable,
    /// The marketplace could not serve it; not the creator's fault.
    Unserved,
    /// Nobody settled in time and somebody other than the relay refunded it.
    Expired,
}

/// Terms and outcome of one execution. Its first fields are those of a `RecordHead`.
#[account]
#[derive(InitSpace, Debug)]
pub struct ExecutionRecord {
    /// Layout version, 1.
    pub version: u8,
    /// Where the money is.
    pub status: ExecutionStatus,
    /// The id, a UUID of version 8 bound to the caller.
    pub execution_id: [u8; 16],
    /// The listing that was called.
    pub listing: Pubkey,
    /// The wallet that paid.
    pub caller: Pubkey,
    /// Price, base units.
    pub price: u64,
    /// When it settled or was refunded, unix seconds; 0 while open.
    pub settled_at: i64,
    /// Dispute window after the settle, seconds.
    pub dispute_window_seconds: u32,
    /// Bump of this address.
    pub bump: u8,
    /// Bump of the escrow.
    pub escrow_bump: u8,
    /// Bump of the caller's `Spender` if its gas balance lent the escrow's rent and gets it back; 0 if `rent_sponsor`
    /// does. A search has never given a `Spender` bump 0.
    pub spender_bump: u8,
    /// The listing's signing key at open; only its signature settles.
    pub signing_key: Pubkey,
    /// Key whose grant paid; zero if no grant paid.
    pub key_id: [u8; 16],
    /// Gets this account's rent back, and the escrow's if `spender_bump` is 0: a wallet, a `Spender`, or an account that
    /// the payer named.
    pub rent_sponsor: Pubkey,
    /// SHA-256 of the canonical JSON `{"parameters":…,"task":…}`.
    pub request_hash: [u8; 32],
    /// SHA-256 of the result; zero until settled.
    pub result_hash: [u8; 32],
    /// When the escrow was funded, unix seconds.
    pub opened_at: i64,
    /// When the creator's answer is due, unix seconds.
    pub deadline: i64,
    /// From this time only a refund is possible, and anyone can make it, unix seconds.
    pub refund_at: i64,
    /// The listing's version that was paid for.
    pub listing_version: u32,
    /// Dispatch to result, milliseconds, as the relay measured it; 0 until settled.
    pub execution_time_ms: u32,
    /// Gas lamports put into this account at open. The relay authority that ends the execution takes its part. The rest,
    /// or all if anyone else ends it, goes back to the gas balance that paid it, or to `rent_sponsor` if no grant paid.
    /// Never changes.
    pub gas_lamports: u32,
    /// Fee, basis points; becomes 0 when a frozen treasury waives it.
    pub fee_bps: u16,
}

impl ExecutionRecord {
    /// The account is at the address of this record. For a record among the remaining accounts, which have no constraints.
    pub fn is_at(&self, key: &Pubkey) -> bool {
        Pubkey::create_program_address(&self.seeds(), &crate::ID).as_ref() == Ok(key)
    }

    /// True if a grant paid the price, and its wallet's gas balance the gas.
    pub fn is_by_grant(&self) -> bool {
        self.key_id != [0; 16]
    }

    /// A relay authority takes at most the gas of this record.
    pub fn require_gas(&self, taken: u32) -> Result<()> {
        ensure!(taken <= self.gas_lamports, GasAboveRecord);
        Ok(())
    }

    /// Signer seeds of this account, which is its escrow's authority.
    pub fn seeds(&self) -> [&[u8]; 3] {
        let bump = std::slice::from_ref(&self.bump);
        [EXECUTION_SEED, self.execution_id.as_ref(), bump]
    }

    /// The execution id of a caller and a nonce. No other caller can make the same id.
    pub fn derive_id(caller: &Pubkey, nonce: &[u8; 16]) -> [u8; 16] {
        let hash = hashv(&[EXECUTION_ID_DOMAIN, caller.as_ref(), nonce]).to_bytes();
        let mut id = [0u8; 16];
        for (to, from) in id.iter_mut().zip(hash) {
            *to = from;
        }
        // RFC 9562: version 8 in the high nibble of octet 6, variant 10 in the high bits of octet 8.
        id[6] = (id[6] & 0x0f) | 0x80;
        id[8] = (id[8] & 0x3f) | 0x80;
        id
    }

    /// The marketplace's fee, base units, rounded down. The creator gets the price minus the fee.
    pub fn fee(&self) -> u64 {
        let fee = u128::from(self.price) * u128::from(self.fee_bps) / u128::from(BPS_DENOMINATOR);
        // The fee is at most the price, so it always fits.
        u64::try_from(fee).unwrap_or(self.price)
    }

    /// The nonce begins with the present or the previous half-hour, as a little-endian u32.
    ///
    /// So an id is never used twice. A nonce of half-hour h is accepted only before the time (h + 2) * 1,800. Its record
    /// is opened at h * 1,800 or later, and no record leaves its address earlier than 3,600 seconds after its open, which
    /// is (h + 2) * 1,800 or later. By then the nonce is refused forever.
    pub fn require_fresh_nonce(nonce: &[u8; 16], now: i64) -> Result<()> {
        let [first, second, third, fourth, ..] = *nonce;
        let half_hour = u64::from(u32::from_le_bytes([first, second, third, fourth]));
        // Unsigned: the target has no signed division.
        let present = u64::try_from(now).unwrap_or(0) / NONCE_HALF_HOUR_SECONDS;
        ensure!(half_hour == present || half_hour == present.saturating_sub(1), WrongNonceHalfHour);
        Ok(())
    }

    fn set_status(&mut self, next: ExecutionStatus) -> Result<()> {
        ensure!(self.status.can_become(next), ExecutionNotOpen);
        self.status = next;
        Ok(())
    }

    /// Open to Completed, before `refund_at`.
    pub fn settle(
        &mut self,
        result_hash: [u8; 32],
        execution_time_ms: u32,
        now: i64,
    ) -> Result<()> {
        self.set_status(ExecutionStatus::Completed)?;
        ensure!(now < self.refund_at, SettleWindowClosed);
        self.result_hash = result_hash;
        self.execution_time_ms = execution_time_ms;
        self.settled_at = now;
        Ok(())
    }

    /// Open to Refunded. The instruction checks who may do it and when.
    pub fn refund(&mut self, now: i64) -> Result<()> {
        self.set_status(ExecutionStatus::Refunded)?;
        self.settled_at = now;
        Ok(())
    }

    /// The account can be closed without being archived: a refunded one an hour after its open, a paid one that nobody
    /// has archived a year after its dispute window.
    pub fn require_closable(&self, now: i64) -> Result<()> {
        use ExecutionStatus::*;
        let closable_at = match self.status {
            Open => return Err(fail(MarketplaceError::ExecutionNotEnded)),
            Refunded => self.opened_at.saturating_add(RECORD_SECONDS_MIN.into()),
            Completed => self
                .settled_at
                .saturating_add(self.dispute_window_seconds.into())
                .saturating_add(UNARCHIVED_RECORD_SECONDS),
        };
        ensure!(now >= closable_at, CloseTooEarly);
        Ok(())
    }

    /// True if the record is paid and ended at least `record_seconds` ago. A dispute needs no record: it waits for none
    /// and is waited for by none.
    pub fn is_archivable(&self, record_seconds: u32, now: i64) -> bool {
        self.status == ExecutionStatus::Completed
            && now >= self.settled_at.saturating_add(record_seconds.into())
    }

    /// The record is consistent. Used by instructions that do not have its escrow.
    /// An ended record has an end time, and only a settled one has a result.
    pub fn book_invariant(&self) -> Result<()> {
        use ExecutionStatus::*;
        let sound = match self.status {
            Open => self.settled_at == 0 && self.result_hash == [0; 32],
            Refunded => self.settled_at > 0 && self.result_hash == [0; 32],
            Completed => self.settled_at > 0,
        };
        ensure!(
            sound && self.opened_at < self.deadline && self.deadline < self.refund_at,
            RecordUnsound
        );
        Ok(())
    }

    /// The record is consistent, and its escrow holds `escrow_amount` base
    /// units: at least the price while it is open, and nothing after its end.
    pub fn invariant(&self, escrow_amount: u64) -> Result<()> {
        self.book_invariant()?;
        ensure!(
            if self.status == ExecutionStatus::Open {
                escrow_amount >= self.price
            } else {
                escrow_amount == 0
            },
            RecordUnsound
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests;

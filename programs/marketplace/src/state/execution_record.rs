//! One paid call. Made when its escrow is funded; Completed ones stay for their dispute window and
//! are archived later, Refunded ones can be closed a week after their open.

use anchor_lang::prelude::*;
use solana_sha256_hasher::hashv;

use crate::constants::*;
use crate::errors::MarketplaceError;

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
    /// Paid, and the caller disputes it.
    Disputed,
    /// Paid, and the creator's collateral paid the caller.
    DisputeUpheld,
}

impl ExecutionStatus {
    /// The only moves there are.
    pub fn can_become(self, next: Self) -> bool {
        use ExecutionStatus::*;
        matches!(
            (self, next),
            (Open, Completed | Refunded)
                | (Completed, Disputed)
                | (Disputed, Completed | DisputeUpheld)
        )
    }
}

/// Why the relay refunded; kept in the event, so that listings are judged only for their own faults.
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

/// Terms and outcome of one execution.
#[account]
#[derive(InitSpace, Debug)]
pub struct ExecutionRecord {
    /// Layout version, 1.
    pub version: u8,
    /// Where the money is.
    pub status: ExecutionStatus,
    /// Bump of this address.
    pub bump: u8,
    /// Bump of the escrow.
    pub escrow_bump: u8,
    /// The id, a UUID of version 8 bound to the caller.
    pub execution_id: [u8; 16],
    /// The listing that was called.
    pub listing: Pubkey,
    /// The wallet that paid.
    pub caller: Pubkey,
    /// The listing's signing key at open; only its signature settles.
    pub signing_key: Pubkey,
    /// Key whose grant paid; zero when the wallet opened it itself.
    pub key_id: [u8; 16],
    /// Who paid this account's and the escrow's rent and gets it back.
    pub rent_sponsor: Pubkey,
    /// Price, base units.
    pub price: u64,
    /// SHA-256 of the canonical JSON `{"parameters":…,"task":…}`.
    pub request_hash: [u8; 32],
    /// SHA-256 of the result; zero until settled.
    pub result_hash: [u8; 32],
    /// When the escrow was funded, unix seconds.
    pub opened_at: i64,
    /// When the creator's answer is due, unix seconds.
    pub deadline: i64,
    /// From this moment only a refund is possible, and anyone may trigger it, unix seconds.
    pub refund_at: i64,
    /// When it settled or was refunded, unix seconds; 0 while open.
    pub settled_at: i64,
    /// How long after its settle it can be disputed.
    pub dispute_window_seconds: u32,
    /// The listing's version that was paid for.
    pub listing_version: u32,
    /// Dispatch to result, milliseconds, as the relay measured it; 0 until settled.
    pub execution_time_ms: u32,
    /// Fee in force; becomes 0 when a frozen treasury waives it.
    pub fee_bps: u16,
}

impl ExecutionRecord {
    /// The id that a caller and a nonce make: nobody else can occupy it.
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

    /// The marketplace's share: rounded down; the creator gets the price minus it.
    pub fn fee(&self) -> u64 {
        let fee = u128::from(self.price) * u128::from(self.fee_bps) / u128::from(BPS_DENOMINATOR);
        // The fee is at most the price, so it always fits.
        u64::try_from(fee).unwrap_or(self.price)
    }

    fn set_status(&mut self, next: ExecutionStatus) -> Result<()> {
        require!(
            self.status.can_become(next),
            MarketplaceError::ExecutionNotOpen
        );
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
        require!(now < self.refund_at, MarketplaceError::SettleWindowClosed);
        self.result_hash = result_hash;
        self.execution_time_ms = execution_time_ms;
        self.settled_at = now;
        Ok(())
    }

    /// Open to Refunded. Who may do it when is the instruction's business.
    pub fn refund(&mut self, now: i64) -> Result<()> {
        self.set_status(ExecutionStatus::Refunded)?;
        self.settled_at = now;
        Ok(())
    }

    /// An open record's escrow covers its price; an ended one has a time, a settled one a result.
    pub fn invariant(&self, escrow_amount: u64) -> Result<()> {
        let sound = match self.status {
            ExecutionStatus::Open => {
                escrow_amount >= self.price && self.settled_at == 0 && self.result_hash == [0; 32]
            }
            ExecutionStatus::Refunded => {
                escrow_amount == 0 && self.settled_at > 0 && self.result_hash == [0; 32]
            }
            _ => escrow_amount == 0 && self.settled_at > 0,
        };
        require!(sound, MarketplaceError::RecordUnsound);
        require!(
            self.opened_at < self.deadline && self.deadline < self.refund_at,
            MarketplaceError::RecordUnsound
        );
        Ok(())
    }
}

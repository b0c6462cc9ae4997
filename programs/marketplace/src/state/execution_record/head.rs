//! The first fields of a record. A dispute needs no others: it takes them from the account or from its leaf.

use anchor_lang::prelude::*;

use super::{ExecutionRecord, ExecutionStatus};

/// The fields of a record that its dispute needs, in the order of its account and its leaf.
#[derive(AnchorSerialize, InitSpace, Clone, Debug)]
pub struct RecordHead {
    pub version: u8,
    pub status: ExecutionStatus,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub caller: Pubkey,
    pub price: u64,
    pub settled_at: i64,
    pub dispute_window_seconds: u32,
}

impl RecordHead {
    /// The execution is paid, and its dispute window is open.
    pub fn require_disputable(&self, now: i64) -> Result<()> {
        ensure!(self.status == ExecutionStatus::Completed, ExecutionNotCompleted);
        let window = i64::from(self.dispute_window_seconds);
        ensure!(now < self.settled_at.saturating_add(window), DisputeWindowClosed);
        Ok(())
    }
}

impl ExecutionRecord {
    /// The fields that a dispute needs.
    pub fn head(&self) -> RecordHead {
        RecordHead {
            version: self.version,
            status: self.status,
            execution_id: self.execution_id,
            listing: self.listing,
            caller: self.caller,
            price: self.price,
            settled_at: self.settled_at,
            dispute_window_seconds: self.dispute_window_seconds,
        }
    }
}

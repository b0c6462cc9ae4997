//! Archives, and the refunds in them that nobody has claimed.

use anchor_lang::prelude::*;

use crate::state::{ExecutionRecord, UnclaimedRefund};

/// A tree was registered. It takes records from now on.
#[event]
pub struct ArchiveCreated {
    pub archive: Pubkey,
    /// Index of the archive, from 0.
    pub index: u16,
    pub tree: Pubkey,
    /// Unix seconds.
    pub created_at: i64,
}

/// Records became leaves and their accounts were closed. The event is the only trace of their fields. So it is sent as
/// the data of a call of the program to itself: unlike logs, this data cannot be truncated.
#[event]
pub struct ExecutionsArchived {
    pub archive: Pubkey,
    pub tree: Pubkey,
    /// Leaf index of the first execution; the others follow in order.
    pub first_index: u32,
    pub executions: Vec<ArchivedExecution>,
}

/// One leaf: the data that its hash covers.
#[derive(AnchorSerialize, AnchorDeserialize, Clone)]
pub struct ArchivedExecution {
    /// The record's address.
    pub record: Pubkey,
    pub execution: ExecutionRecord,
}

/// A caller claimed an unclaimed refund. Sent as `ExecutionsArchived` is.
#[event]
pub struct RefundClaimed {
    /// The account that forbids a second claim.
    pub claim: Pubkey,
    pub tree: Pubkey,
    pub leaf_index: u32,
    /// The caller's account that got the amount.
    pub destination: Pubkey,
    /// Unix seconds.
    pub claimed_at: i64,
    pub refund: UnclaimedRefund,
}

/// The leaf by which a caller claims an unclaimed refund. Its other fields are in the event: record or deposit, caller,
/// amount and time.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct UnclaimedLeaf {
    pub archive: Pubkey,
    pub tree: Pubkey,
    pub leaf_index: u32,
}

//! Disputes, from open to close.

use anchor_lang::prelude::*;

/// A caller disputes a result.
#[event]
pub struct DisputeOpened {
    pub dispute: Pubkey,
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub caller: Pubkey,
    pub evidence_hash: [u8; 32],
    pub evidence_uri: String,
    /// Price of the disputed execution, base units.
    pub price: u64,
    /// The account that paid rent and bond.
    pub rent_sponsor: Pubkey,
    /// Lamports.
    pub bond: u64,
    /// Unix seconds; the answer is due 72 hours later.
    pub opened_at: i64,
}

/// The admin decided a dispute.
#[event]
pub struct DisputeResolved {
    pub dispute: Pubkey,
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub upheld: bool,
    /// Base units that went, or are owed, to the caller.
    pub amount_to_caller: u64,
    /// Base units that the creator lost.
    pub amount_slashed: u64,
    /// Part of `amount_to_caller` that waits for an account that can receive it.
    pub owed: u64,
    /// Lamports of the bond that were paid out.
    pub bond: u64,
    /// The account that gets the bond: the creator if rejected, the account that paid it if upheld.
    pub bond_to: Pubkey,
    pub reason_hash: [u8; 32],
    pub resolved_at: i64,
    /// The collateral's totals after this decision, base units.
    pub deposited: u64,
    pub slashed: u64,
    pub forfeited: u64,
    /// Time from which the forfeited part can go to the treasury without a delisting, unix seconds.
    pub sweepable_at: i64,
    /// 0 active, 1 paused, 2 delisted, after this decision, which may pause the listing.
    pub listing_status: u8,
}

/// An award that waited for the caller's account was paid.
#[event]
pub struct DisputeAwardClaimed {
    pub dispute: Pubkey,
    pub record: Pubkey,
    pub listing: Pubkey,
    pub caller: Pubkey,
    /// Base units.
    pub amount: u64,
    pub vault_closed: bool,
}

/// Nobody decided a dispute in time, so it ended.
#[event]
pub struct DisputeLapsed {
    pub dispute: Pubkey,
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    /// Lamports of the bond that were paid back.
    pub bond: u64,
    pub bond_to: Pubkey,
    pub resolved_at: i64,
}

/// An ended dispute's account was closed.
#[event]
pub struct DisputeClosed {
    pub dispute: Pubkey,
    pub record: Pubkey,
}

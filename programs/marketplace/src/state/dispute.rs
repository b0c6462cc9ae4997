//! A caller's claim that a settled result is not what was paid for. One per record, ever; kept after its outcome.

use anchor_lang::prelude::*;

/// Where a dispute stands.
#[derive(AnchorSerialize, AnchorDeserialize, InitSpace, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DisputeOutcome {
    /// Waits for the admin's answer.
    Open,
    /// The admin found for the creator.
    Rejected,
    /// The admin found for the caller.
    Upheld,
    /// Nobody answered in time.
    Lapsed,
}

/// The claim, its bond and its outcome.
#[account]
#[derive(InitSpace, Debug)]
pub struct Dispute {
    /// Layout version, 1.
    pub version: u8,
    /// Where it stands.
    pub outcome: DisputeOutcome,
    /// Bump of this address.
    pub bump: u8,
    /// The disputed record.
    pub record: Pubkey,
    /// Who disputes: the record's caller.
    pub caller: Pubkey,
    /// SHA-256 of the evidence, whose URI is in the event.
    pub evidence_hash: [u8; 32],
    /// SHA-256 of the admin's written reason; zero before the outcome.
    pub reason_hash: [u8; 32],
    /// When it was opened, unix seconds; the answer is due 72 hours later.
    pub opened_at: i64,
    /// Lamports held in this account as bond.
    pub bond: u64,
    /// Slashed collateral that went, or is owed, to the caller, base units.
    pub amount_to_caller: u64,
    /// Slashed collateral that went to the treasury, base units.
    pub amount_to_treasury: u64,
    /// Part of `amount_to_caller` that waits until the caller's account can receive it, base units.
    pub owed: u64,
    /// When the outcome was reached, unix seconds; 0 while open.
    pub resolved_at: i64,
}

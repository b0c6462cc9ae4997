//! One event per transition, in the past tense, with the state after it. Events are a convenience
//! for indexers: the accounts are the truth.

use anchor_lang::prelude::*;

/// The marketplace was created.
#[event]
pub struct ConfigInitialized {
    pub config: Pubkey,
    pub admin: Pubkey,
    pub relay_authority: Pubkey,
    pub usdc_mint: Pubkey,
    pub treasury: Pubkey,
    pub fee_bps: u16,
}

/// The admin gave or took a creator's badge.
#[event]
pub struct CreatorVerificationChanged {
    pub creator: Pubkey,
    pub verified: bool,
    /// Unix seconds; 0 when the badge was taken.
    pub verified_at: i64,
}

/// A listing went live.
#[event]
pub struct AgentListed {
    pub listing: Pubkey,
    pub creator: Pubkey,
    pub listing_id: [u8; 16],
    pub signing_key: Pubkey,
    pub payout: Pubkey,
    /// Base units of USDC.
    pub price: u64,
    pub timeout_seconds: u32,
    pub min_timeout_seconds: u32,
    pub tag_mask: u16,
    pub listing_version: u32,
    /// Collateral in the vault, base units.
    pub deposited: u64,
    pub metadata_hash: [u8; 32],
    pub metadata_uri: String,
    /// Unix seconds.
    pub listed_at: i64,
}

/// A creator changed what a listing promises or where it is paid.
#[event]
pub struct ListingUpdated {
    pub listing: Pubkey,
    pub payout: Pubkey,
    pub price: u64,
    pub timeout_seconds: u32,
    pub min_timeout_seconds: u32,
    pub tag_mask: u16,
    pub listing_version: u32,
    pub metadata_hash: [u8; 32],
    pub metadata_uri: String,
}

/// A creator paused or resumed a listing.
#[event]
pub struct ListingStatusChanged {
    pub listing: Pubkey,
    /// 0 active, 1 paused, 2 delisted.
    pub status: u8,
}

/// A wallet gave an API key a spending right.
#[event]
pub struct GrantCreated {
    pub grant: Pubkey,
    pub wallet: Pubkey,
    pub key_id: [u8; 16],
    pub per_execution_max: u64,
    pub period_max: u64,
    pub total_max: u64,
    pub period_seconds: u32,
    pub expires_at: i64,
    pub created_at: i64,
}

/// A key's spending right ended for good.
#[event]
pub struct GrantRevoked {
    pub grant: Pubkey,
    pub wallet: Pubkey,
    pub key_id: [u8; 16],
}

/// A caller's price moved into escrow.
#[event]
pub struct ExecutionOpened {
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub caller: Pubkey,
    pub signing_key: Pubkey,
    /// All zero when the wallet opened it itself.
    pub key_id: [u8; 16],
    pub rent_sponsor: Pubkey,
    pub price: u64,
    pub fee_bps: u16,
    pub listing_version: u32,
    pub request_hash: [u8; 32],
    pub opened_at: i64,
    pub deadline: i64,
    pub refund_at: i64,
    pub dispute_window_seconds: u32,
    /// The grant's count and spend after this open; 0 when the wallet opened it itself.
    pub grant_execution_count: u64,
    pub grant_total_spent: u64,
}

/// The escrow was released against the creator's signature.
#[event]
pub struct ExecutionSettled {
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub result_hash: [u8; 32],
    /// Base units paid to the creator: price minus fee.
    pub creator_amount: u64,
    /// Base units paid to the treasury as fee, without dust.
    pub platform_amount: u64,
    /// Basis points in force; 0 where a frozen treasury waived the fee.
    pub fee_bps: u16,
    /// True when the treasury could not receive and the creator got everything.
    pub fee_waived: bool,
    pub execution_time_ms: u32,
    pub settled_at: i64,
}

/// The escrow went back to the caller.
#[event]
pub struct ExecutionRefunded {
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub caller: Pubkey,
    /// Base units that left the escrow, dust included.
    pub amount: u64,
    /// See `RefundReason`.
    pub reason: u8,
    pub refunded_at: i64,
    /// True when the key's grant got its spend back.
    pub grant_restored: bool,
    /// The grant's spend after this refund; 0 when nothing was given back.
    pub grant_total_spent: u64,
}

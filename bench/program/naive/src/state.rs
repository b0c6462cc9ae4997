//! Accounts, events and errors. The accounts carry what the marketplace's carry, without the stored bumps. Those
//! that no instruction here makes are written by the bench.

use anchor_lang::prelude::*;

#[account]
#[derive(InitSpace)]
pub struct Config {
    pub admin: Pubkey,
    pub relay_authority: Pubkey,
    pub usdc_mint: Pubkey,
    pub treasury: Pubkey,
    pub fee_bps: u16,
    pub max_timeout_seconds: u32,
    pub refund_grace_seconds: u32,
    pub dispute_window_seconds: u32,
    pub exposure_multiple: u32,
    pub paused: bool,
}

#[derive(AnchorSerialize, AnchorDeserialize, InitSpace, Clone, Copy, PartialEq, Eq)]
pub enum ListingStatus {
    Active,
    Paused,
    Delisted,
}

#[account]
#[derive(InitSpace)]
pub struct AgentListing {
    pub creator: Pubkey,
    pub listing_id: [u8; 16],
    pub signing_key: Pubkey,
    pub price: u64,
    pub timeout_seconds: u32,
    pub min_timeout_seconds: u32,
    pub listing_version: u32,
    pub status: ListingStatus,
    pub tag_mask: u16,
    pub metadata_hash: [u8; 32],
    pub listed_at: i64,
    #[max_len(200)]
    pub metadata_uri: String,
}

#[account]
#[derive(InitSpace)]
pub struct CreatorCollateral {
    pub listing: Pubkey,
    pub deposited: u64,
    pub slashed: u64,
    pub exposure_opened: u64,
    pub exposure_window_start: i64,
}

#[account]
#[derive(InitSpace)]
pub struct KeyGrant {
    pub wallet: Pubkey,
    pub key_id: [u8; 16],
    pub revoked: bool,
    pub per_execution_max: u64,
    pub period_max: u64,
    pub total_max: u64,
    pub period_seconds: u32,
    pub expires_at: i64,
    pub created_at: i64,
    pub period_start: i64,
    pub period_spent: u64,
    pub total_spent: u64,
    pub execution_count: u64,
}

#[derive(AnchorSerialize, AnchorDeserialize, InitSpace, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionStatus {
    Open,
    Completed,
    Refunded,
}

#[account]
#[derive(InitSpace)]
pub struct ExecutionRecord {
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub caller: Pubkey,
    pub signing_key: Pubkey,
    pub key_id: [u8; 16],
    pub rent_sponsor: Pubkey,
    pub escrow: Pubkey,
    pub price: u64,
    pub fee_bps: u16,
    pub listing_version: u32,
    pub status: ExecutionStatus,
    pub request_hash: [u8; 32],
    pub result_hash: Option<[u8; 32]>,
    pub opened_at: i64,
    pub deadline: i64,
    pub refund_at: i64,
    pub settled_at: Option<i64>,
    pub dispute_window_seconds: u32,
    pub execution_time_ms: Option<u32>,
}

#[event]
pub struct ExecutionOpened {
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub caller: Pubkey,
    pub signing_key: Pubkey,
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
    pub grant_execution_count: u64,
    pub grant_total_spent: u64,
}

#[event]
pub struct ExecutionSettled {
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub result_hash: [u8; 32],
    pub creator_amount: u64,
    pub platform_amount: u64,
    pub fee_bps: u16,
    pub execution_time_ms: u32,
    pub settled_at: i64,
}

#[event]
pub struct ExecutionRefunded {
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub caller: Pubkey,
    pub amount: u64,
    pub reason: u8,
    pub refunded_at: i64,
    pub grant_total_spent: u64,
}

#[error_code]
pub enum EscrowError {
    #[msg("The marketplace is paused, please try again later")]
    Paused,
    #[msg("Only the relay authority can do this")]
    NotRelayAuthority,
    #[msg("The mint is not the settlement mint")]
    WrongMint,
    #[msg("The listing is not active")]
    ListingNotActive,
    #[msg("The price is above the maximum that the caller agreed to")]
    PriceAboveMax,
    #[msg("The listing has changed since the caller saw it")]
    ListingVersionMismatch,
    #[msg("The timeout is outside the range that the listing offers")]
    TimeoutOutOfRange,
    #[msg("The open came too late")]
    OpenTooLate,
    #[msg("The execution id does not belong to this caller")]
    WrongExecutionId,
    #[msg("The caller's balance is not sufficient")]
    InsufficientBalance,
    #[msg("The creator's exposure limit is reached")]
    ExposureLimitReached,
    #[msg("The grant was revoked")]
    GrantRevoked,
    #[msg("The grant has expired")]
    GrantExpired,
    #[msg("The price is above what the grant allows for one execution")]
    GrantPerExecutionExceeded,
    #[msg("The grant's limit for this period is reached")]
    GrantPeriodExceeded,
    #[msg("The grant's total limit is reached")]
    GrantTotalExceeded,
    #[msg("The execution is not open")]
    ExecutionNotOpen,
    #[msg("The execution can no longer be settled")]
    SettleWindowClosed,
    #[msg("The execution cannot be refunded yet")]
    RefundTooEarly,
    #[msg("The Ed25519 signature instruction is missing")]
    SignatureMissing,
    #[msg("The Ed25519 signature is not the creator's over this result")]
    InvalidSignature,
    #[msg("Arithmetic overflow")]
    Overflow,
}

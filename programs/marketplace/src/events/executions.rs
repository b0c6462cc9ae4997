//! Executions, from escrow to closed record.

use anchor_lang::prelude::*;

use super::UnclaimedLeaf;

/// A caller's price moved into escrow.
#[event]
pub struct ExecutionOpened {
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub caller: Pubkey,
    pub signing_key: Pubkey,
    /// All zero if no grant paid.
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
    /// Gas lamports in the record, for the relay authority that ends the execution.
    pub gas_lamports: u32,
    /// Lamports that the wallet's gas balance paid to the payer for this open; 0 if no grant paid.
    pub fee_lamports: u32,
    /// True if the wallet's gas balance lent the escrow's rent; otherwise `rent_sponsor` gets it back.
    pub spender_lends_escrow: bool,
    /// The grant's count and total spend after this open; 0 if no grant paid.
    pub grant_execution_count: u64,
    pub grant_total_spent: u64,
    /// Start of the grant's period, unix seconds, and its spend after this open; 0 if no grant paid.
    pub grant_period_start: i64,
    pub grant_period_spent: u64,
    /// The listing's exposure after this open: start of its window, unix seconds, and sum of the prices opened in it.
    pub exposure_window_start: i64,
    pub exposure_opened: u64,
    /// The deposit that paid, now closed; the zero key if none did.
    pub deposit: Pubkey,
    /// Base units of the deposit that went to the treasury; 0 if a frozen treasury left them in the escrow.
    pub service_fee: u64,
}

/// The escrow was released against the creator's signature.
#[event]
pub struct ExecutionSettled {
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub result_hash: [u8; 32],
    /// Base units paid to the creator: price minus fee. Anything else in the escrow is in no event: tokens that strangers
    /// sent, or a service fee that waited there. It goes to the treasury, or to the creator if the treasury is frozen.
    pub creator_amount: u64,
    /// Fee paid to the treasury, base units.
    pub platform_amount: u64,
    /// Fee, basis points; 0 if a frozen treasury waived it.
    pub fee_bps: u16,
    /// True when the treasury could not receive and the creator got everything.
    pub fee_waived: bool,
    pub execution_time_ms: u32,
    pub settled_at: i64,
    /// The creator's account that was paid.
    pub payout: Pubkey,
    /// The account that took gas of the record, and how many lamports; both zero if none was taken.
    pub gas_to: Pubkey,
    pub gas_lamports: u32,
    /// Lamports of the gas that went back besides: to the caller's `Spender`, or to the rent sponsor if no grant paid.
    pub gas_returned: u32,
}

/// The escrow went back to the caller.
#[event]
pub struct ExecutionRefunded {
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub caller: Pubkey,
    /// Base units that left the escrow, including tokens that strangers sent to it.
    pub amount: u64,
    /// See `RefundReason`.
    pub reason: u8,
    pub refunded_at: i64,
    /// True if the price was subtracted from the grant's spend.
    pub grant_restored: bool,
    /// The grant's total and period spend after this refund; 0 if `grant_restored` is false.
    pub grant_total_spent: u64,
    pub grant_period_spent: u64,
    /// The listing's exposure after this refund: start of its window, unix seconds, and sum of the prices opened in it.
    pub exposure_window_start: i64,
    pub exposure_opened: u64,
    /// The account that took gas of the record, and how many lamports; both zero if none was taken.
    pub gas_to: Pubkey,
    pub gas_lamports: u32,
    /// Lamports of the gas that went back besides: to the caller's `Spender`, or to the rent sponsor if no grant paid.
    pub gas_returned: u32,
    /// Set if the caller's account could not receive, so the amount went to the account of unclaimed refunds. Such an
    /// event is sent as `ExecutionsArchived` is.
    pub unclaimed: Option<UnclaimedLeaf>,
}

/// An ended execution's record was closed without being archived.
#[event]
pub struct ExecutionClosed {
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub caller: Pubkey,
}

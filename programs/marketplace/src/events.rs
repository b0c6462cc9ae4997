//! One event per transition, in the past tense, with the state after it. Events are a convenience
//! for indexers: the accounts are the truth.

use anchor_lang::prelude::*;

use crate::state::{CollateralTier, Config, ConfigChange, ExecutionRecord, UnclaimedRefund};

/// The marketplace was created.
#[event]
pub struct ConfigInitialized {
    pub config: Pubkey,
    pub admin: Pubkey,
    /// The zero key when there is none.
    pub guardian: Pubkey,
    pub relay_authorities: Vec<Pubkey>,
    pub usdc_mint: Pubkey,
    pub treasury: Pubkey,
    pub settings: ConfigSettings,
}

/// All settings, as they are after the transition.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct ConfigSettings {
    pub admin_paused: bool,
    pub guardian_paused: bool,
    pub fee_bps: u16,
    /// Base units.
    pub min_price: u64,
    pub dispute_bond_lamports: u64,
    pub dispute_window_seconds: u32,
    pub refund_grace_seconds: u32,
    pub max_timeout_seconds: u32,
    pub record_seconds: u32,
    pub longest_span_seconds: u32,
    pub exposure_multiple: u32,
    pub admin_delay_seconds: u32,
    /// Unix seconds.
    pub changes_valid_from: i64,
    /// The tiers in use, lowest first.
    pub tiers: Vec<CollateralTier>,
}

impl ConfigSettings {
    /// The settings of a config.
    pub fn of(config: &Config) -> Self {
        ConfigSettings {
            admin_paused: config.admin_paused,
            guardian_paused: config.guardian_paused,
            fee_bps: config.fee_bps,
            min_price: config.min_price,
            dispute_bond_lamports: config.dispute_bond_lamports,
            dispute_window_seconds: config.dispute_window_seconds,
            refund_grace_seconds: config.refund_grace_seconds,
            max_timeout_seconds: config.max_timeout_seconds,
            record_seconds: config.record_seconds,
            longest_span_seconds: config.longest_span_seconds,
            exposure_multiple: config.exposure_multiple,
            admin_delay_seconds: config.admin_delay_seconds,
            changes_valid_from: config.changes_valid_from,
            tiers: config.used_tiers().to_vec(),
        }
    }
}

/// The admin gave or removed a creator's badge.
#[event]
pub struct CreatorVerificationChanged {
    pub creator: Pubkey,
    pub verified: bool,
    /// Unix seconds; 0 when the badge was removed.
    pub verified_at: i64,
}

/// A listing became active.
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
    /// The account that paid the vault's rent.
    pub rent_sponsor: Pubkey,
    pub metadata_hash: [u8; 32],
    pub metadata_uri: String,
    /// Unix seconds.
    pub listed_at: i64,
}

/// A creator changed a listing's terms or payout account.
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
    pub max_gas_lamports: u32,
    pub expires_at: i64,
    pub created_at: i64,
    /// The account that paid the grant's rent.
    pub rent_sponsor: Pubkey,
}

/// A key's spending right was revoked permanently.
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

/// The admin changed settings, or the guardian or the admin paused opens. Contains all settings after the change.
#[event]
pub struct ConfigUpdated {
    pub config: Pubkey,
    pub settings: ConfigSettings,
}

/// The admin proposed a change that waits until it is due.
#[event]
pub struct ChangeProposed {
    pub change: Pubkey,
    pub change_id: u64,
    /// The account that paid the change's rent.
    pub rent_sponsor: Pubkey,
    /// Unix seconds.
    pub proposed_at: i64,
    /// Time from which anyone can apply it, or the next admin accept it, unix seconds.
    pub due_at: i64,
    pub details: ConfigChange,
}

/// A pending change took effect. Contains everything that such a change can affect, after the change.
#[event]
pub struct ChangeApplied {
    pub change: Pubkey,
    pub config: Pubkey,
    pub settings: ConfigSettings,
    pub relay_authorities: Vec<Pubkey>,
    /// The zero key when there is none.
    pub guardian: Pubkey,
}

/// A pending change was cancelled, or closed after it could not be applied any more.
#[event]
pub struct ChangeCancelled {
    pub change: Pubkey,
    /// The key that cancelled it.
    pub authority: Pubkey,
}

/// All pending changes of settings were cancelled at once.
#[event]
pub struct ChangesCancelled {
    pub config: Pubkey,
    /// The key that cancelled them.
    pub authority: Pubkey,
    /// Changes proposed up to this time cannot be applied, unix seconds.
    pub changes_valid_from: i64,
}

/// A proposed admin accepted. That cancelled all other pending changes.
#[event]
pub struct AdminChanged {
    pub config: Pubkey,
    /// The change that proposed the admin.
    pub change: Pubkey,
    pub admin: Pubkey,
    /// Unix seconds.
    pub admin_since: i64,
    /// Unix seconds.
    pub changes_valid_from: i64,
}

/// A relay authority was removed: a key that signed settles, and opens for API keys. That cancelled all pending changes
/// of settings.
#[event]
pub struct RelayAuthorityRemoved {
    pub config: Pubkey,
    /// The removed key.
    pub relay_authority: Pubkey,
    /// All relay authorities that are left.
    pub relay_authorities: Vec<Pubkey>,
    /// Unix seconds.
    pub changes_valid_from: i64,
}

/// Fees left the treasury.
#[event]
pub struct TreasuryWithdrawn {
    pub treasury: Pubkey,
    pub destination: Pubkey,
    /// Base units.
    pub amount: u64,
    /// Base units left in the treasury.
    pub remaining: u64,
}

/// A listing's signing key changed. Open executions keep their key.
#[event]
pub struct SigningKeyRotated {
    pub listing: Pubkey,
    pub signing_key: Pubkey,
}

/// A listing was delisted permanently.
#[event]
pub struct AgentDelisted {
    pub listing: Pubkey,
    /// Time from which the collateral can go back, unix seconds.
    pub returnable_at: i64,
}

/// A creator added to a listing's collateral.
#[event]
pub struct CollateralToppedUp {
    pub listing: Pubkey,
    pub amount: u64,
    pub deposited: u64,
    pub slashed: u64,
}

/// The rest of a listing's collateral went back to its creator.
#[event]
pub struct CollateralReturned {
    pub listing: Pubkey,
    pub destination: Pubkey,
    /// Base units sent, including tokens that strangers sent to the vault.
    pub amount: u64,
    /// Forfeited base units that went to the treasury.
    pub to_treasury: u64,
    /// Base units that stay in the vault for awards not yet claimed.
    pub owed: u64,
    /// Base units that stay in the vault until the treasury can receive them.
    pub forfeited: u64,
    pub vault_closed: bool,
}

/// The forfeited part of a listing's collateral went to the treasury.
#[event]
pub struct ForfeitsSwept {
    pub listing: Pubkey,
    /// Base units.
    pub amount: u64,
    pub vault_closed: bool,
}

/// A wallet changed a key's limits.
#[event]
pub struct GrantUpdated {
    pub grant: Pubkey,
    pub wallet: Pubkey,
    pub key_id: [u8; 16],
    pub per_execution_max: u64,
    pub period_max: u64,
    pub total_max: u64,
    pub period_seconds: u32,
    pub max_gas_lamports: u32,
    pub expires_at: i64,
    /// Start of the current period, unix seconds, and its spend. A new period length starts a new period.
    pub period_start: i64,
    pub period_spent: u64,
}

/// A wallet withdrew lamports from its gas balance.
#[event]
pub struct GasWithdrawn {
    pub wallet: Pubkey,
    /// The `Spender` address, whose lamports are the gas balance.
    pub spender: Pubkey,
    pub lamports: u64,
    /// Lamports left in the gas balance.
    pub remaining: u64,
}

/// A grant's account was closed, which ended the key's spending right.
#[event]
pub struct GrantClosed {
    pub grant: Pubkey,
    pub wallet: Pubkey,
    pub key_id: [u8; 16],
}

/// An ended execution's record was closed without being archived.
#[event]
pub struct ExecutionClosed {
    pub record: Pubkey,
    pub execution_id: [u8; 16],
    pub listing: Pubkey,
    pub caller: Pubkey,
}

/// The leaf by which a caller claims an unclaimed refund. Its other fields are in the event: record or deposit, caller,
/// amount and time.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug)]
pub struct UnclaimedLeaf {
    pub archive: Pubkey,
    pub tree: Pubkey,
    pub leaf_index: u32,
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

/// A deposit was prepared for its payment.
#[event]
pub struct DepositPrepared {
    pub deposit: Pubkey,
    /// SHA-256 of the deposit's terms; see `DepositTerms`.
    pub terms_hash: [u8; 32],
    /// The payer that the deposit's address names; the zero key if it names none.
    pub quoted_payer: Pubkey,
    /// The wallet that buys. It gets the money back if no execution is opened.
    pub caller: Pubkey,
    pub rent_sponsor: Pubkey,
    /// Base units.
    pub price: u64,
    pub service_fee: u64,
    /// Unix seconds.
    pub prepared_at: i64,
    pub expires_at: i64,
}

/// A deposit went back to its caller without an execution.
#[event]
pub struct DepositRefunded {
    pub deposit: Pubkey,
    pub caller: Pubkey,
    /// The account that got the money, if there was any: the caller's, or that of unclaimed refunds.
    pub destination: Pubkey,
    /// Base units that went to that account.
    pub amount: u64,
    /// Base units that went to the treasury: the service fee, or all of a deposit that was not fully paid.
    pub service_fee: u64,
    pub refunded_at: i64,
    /// False if the rent sponsor could not take the rent. Deposit and vault then stay until another `refund_deposit`.
    pub closed: bool,
    /// Set if the caller's account could not receive, as in `ExecutionRefunded`.
    pub unclaimed: Option<UnclaimedLeaf>,
}

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

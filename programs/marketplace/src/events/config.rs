//! Settings, the keys that change them, the treasury, and creators' badges.

use anchor_lang::prelude::*;

use crate::state::{CollateralTier, Config, ConfigChange};

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

/// The admin changed settings, or the guardian or the admin paused opens. Contains all settings after the change.
#[event]
pub struct ConfigUpdated {
    pub config: Pubkey,
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

/// The admin gave or removed a creator's badge.
#[event]
pub struct CreatorVerificationChanged {
    pub creator: Pubkey,
    pub verified: bool,
    /// Unix seconds; 0 when the badge was removed.
    pub verified_at: i64,
}

//! Listings and their collateral.

use anchor_lang::prelude::*;

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

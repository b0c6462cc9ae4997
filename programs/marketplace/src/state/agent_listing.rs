//! An agent that a creator publishes: its terms and its payout account. Owned by its creator, never closed.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::guard::fail;
use crate::state::Config;

/// Status of a listing.
#[derive(AnchorSerialize, AnchorDeserialize, InitSpace, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ListingStatus {
    /// Takes new executions.
    Active,
    /// Visible, but takes none.
    Paused,
    /// Permanently closed; its collateral stays until every dispute window has closed.
    Delisted,
}

impl ListingStatus {
    /// The allowed transitions: Active <-> Paused, and either to Delisted.
    pub fn can_become(self, next: Self) -> bool {
        use ListingStatus::*;
        matches!((self, next), (Active, Paused) | (Paused, Active) | (Active | Paused, Delisted))
    }
}

/// The terms of a listing that its creator chooses.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Debug, PartialEq, Eq)]
pub struct ListingTerms {
    /// Price of one execution, base units of USDC.
    pub price: u64,
    /// Longest timeout that a caller can choose, and the default, seconds.
    pub timeout_seconds: u32,
    /// Shortest timeout that a caller can choose, seconds, at least 1.
    pub min_timeout_seconds: u32,
    /// One bit for each standard tag, 1 to 5 of them; see `STANDARD_TAG_COUNT`.
    pub tag_mask: u16,
    /// SHA-256 of the canonical JSON document that describes the agent.
    pub metadata_hash: [u8; 32],
    /// URI of that document; at most 200 bytes, may be empty.
    pub metadata_uri: String,
}

impl ListingTerms {
    /// The terms are within what the marketplace allows now.
    pub fn validate(&self, config: &Config) -> Result<()> {
        ensure!(self.price >= config.min_price, PriceBelowMinimum);
        config.tier_deposit(self.price)?;
        ensure!(
            self.min_timeout_seconds >= 1
                && self.min_timeout_seconds <= self.timeout_seconds
                && self.timeout_seconds <= config.max_timeout_seconds,
            InvalidTimeouts
        );
        let tags = self.tag_mask.count_ones();
        ensure!(
            self.tag_mask >> STANDARD_TAG_COUNT == 0 && tags >= 1 && tags <= u32::from(MAX_TAGS),
            InvalidTags
        );
        ensure!(self.metadata_uri.len() <= usize::from(MAX_URI_LENGTH), UriTooLong);
        Ok(())
    }
}

/// One agent on offer.
#[account]
#[derive(InitSpace, Debug)]
pub struct AgentListing {
    /// Layout version, 1.
    pub version: u8,
    /// Active, Paused or Delisted.
    pub status: ListingStatus,
    /// Bump of this address.
    pub bump: u8,
    /// The creator's wallet.
    pub creator: Pubkey,
    /// Chosen by the creator; part of this address.
    pub listing_id: [u8; 16],
    /// USDC account that settlements pay; owned by the creator's wallet.
    pub payout: Pubkey,
    /// Ed25519 key that signs the results of executions opened from now on.
    pub signing_key: Pubkey,
    /// Price of one execution, base units.
    pub price: u64,
    /// Longest timeout that a caller can choose, and the default, seconds.
    pub timeout_seconds: u32,
    /// Shortest timeout that a caller can choose, seconds.
    pub min_timeout_seconds: u32,
    /// Starts at 1 and grows by 1 with every change of terms, so a caller never pays for terms that it did not see.
    pub listing_version: u32,
    /// One bit for each standard tag.
    pub tag_mask: u16,
    /// SHA-256 of the metadata document.
    pub metadata_hash: [u8; 32],
    /// When it was listed, unix seconds.
    pub listed_at: i64,
    /// URI of the metadata document.
    #[max_len(200)]
    pub metadata_uri: String,
}

impl AgentListing {
    /// True if these terms differ from the current ones.
    pub fn differs_from(&self, terms: &ListingTerms) -> bool {
        self.price != terms.price
            || self.timeout_seconds != terms.timeout_seconds
            || self.min_timeout_seconds != terms.min_timeout_seconds
            || self.tag_mask != terms.tag_mask
            || self.metadata_hash != terms.metadata_hash
            || self.metadata_uri != terms.metadata_uri
    }

    /// Apply new terms. The version grows only if they differ.
    pub fn apply_terms(&mut self, terms: ListingTerms) -> Result<()> {
        if !self.differs_from(&terms) {
            return Ok(());
        }
        self.listing_version = self
            .listing_version
            .checked_add(1)
            .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
        self.price = terms.price;
        self.timeout_seconds = terms.timeout_seconds;
        self.min_timeout_seconds = terms.min_timeout_seconds;
        self.tag_mask = terms.tag_mask;
        self.metadata_hash = terms.metadata_hash;
        self.metadata_uri = terms.metadata_uri;
        Ok(())
    }

    /// Move to another status.
    pub fn set_status(&mut self, next: ListingStatus) -> Result<()> {
        ensure!(self.status.can_become(next), InvalidListingTransition);
        self.status = next;
        Ok(())
    }

    /// After a slash: pause an active listing whose collateral no longer reaches what its price requires.
    pub fn pause_if_below(&mut self, available: u64, config: &Config) -> Result<()> {
        let required = config.tier_deposit(self.price).unwrap_or(u64::MAX);
        if self.status == ListingStatus::Active && available < required {
            self.set_status(ListingStatus::Paused)?;
        }
        Ok(())
    }

    /// The timeout lies within what this listing offers.
    pub fn check_timeout(&self, timeout_seconds: u32) -> Result<()> {
        ensure!(
            (self.min_timeout_seconds..=self.timeout_seconds).contains(&timeout_seconds),
            TimeoutOutOfRange
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_these_moves() {
        use ListingStatus::*;
        let allowed = [(Active, Paused), (Paused, Active), (Active, Delisted), (Paused, Delisted)];
        for from in [Active, Paused, Delisted] {
            for to in [Active, Paused, Delisted] {
                assert_eq!(from.can_become(to), allowed.contains(&(from, to)));
            }
        }
    }
}

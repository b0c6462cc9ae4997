//! The marketplace's settings. One account, created once by the program's upgrade authority, never closed.

use anchor_lang::prelude::*;

use crate::errors::MarketplaceError;
use crate::guard::fail;

mod settings;

pub use settings::*;

/// How much collateral a listing of a given price must hold.
#[derive(
    AnchorSerialize, AnchorDeserialize, InitSpace, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub struct CollateralTier {
    /// Highest price of this tier, base units, inclusive.
    pub max_price: u64,
    /// Deposit that a listing of this tier must keep, base units.
    pub deposit: u64,
}

/// Settings that instructions read. The admin changes them within the bounds of `constants.rs`.
#[account]
#[derive(InitSpace, Debug)]
pub struct Config {
    /// Layout version, 1.
    pub version: u8,
    /// The admin's pause: true refuses all new executions. Settling and refunding go on.
    pub admin_paused: bool,
    /// The guardian's pause: true refuses all new executions and withdrawals from the treasury. The
    /// guardian lifts it at once, and everybody else only by a change that has waited.
    pub guardian_paused: bool,
    /// The marketplace's share of a settled price, 0 to 100 basis points.
    pub fee_bps: u16,
    /// How many of `tiers` are in use, 1 to 4.
    pub tier_count: u8,
    /// How many of `relay_authorities` are in use, 0 to 8.
    pub relay_authority_count: u8,
    /// The key that changes settings, verifies creators and resolves disputes.
    pub admin: Pubkey,
    /// The key that can pause the marketplace, remove relay authorities and cancel pending changes; the zero key if none.
    pub guardian: Pubkey,
    /// The only settlement mint: six decimals, classic Token program. Never changes.
    pub usdc_mint: Pubkey,
    /// Lowest price of a listing, base units.
    pub min_price: u64,
    /// Bond that opening a dispute takes, lamports.
    pub dispute_bond_lamports: u64,
    /// Dispute window after a settle, seconds; copied into each record at open.
    pub dispute_window_seconds: u32,
    /// Time from an execution's deadline to its `refund_at`, when anyone can refund it, seconds.
    pub refund_grace_seconds: u32,
    /// Longest timeout that a listing may offer, seconds.
    pub max_timeout_seconds: u32,
    /// Time from a paid execution's end until its record can be archived, seconds. It holds for all records, those of
    /// earlier opens too.
    pub record_seconds: u32,
    /// The largest max_timeout + refund_grace + dispute_window ever in force, seconds; only grows.
    pub longest_span_seconds: u32,
    /// Limit of the prices opened in one dispute window, as a multiple of a listing's collateral; 0 for no limit.
    pub exposure_multiple: u32,
    /// Delay before a proposed change can be applied, seconds; only grows. 0 for no delay.
    pub admin_delay_seconds: u32,
    /// Changes of settings proposed up to this time cannot be applied, unix seconds. Only grows.
    pub changes_valid_from: i64,
    /// When the admin accepted the role, unix seconds; 0 for the first one. Changes of admin or
    /// guardian proposed up to this time cannot be applied.
    pub admin_since: i64,
    /// Collateral tiers, strictly increasing in both fields; unused ones are zero.
    pub tiers: [CollateralTier; 4],
    /// Keys that can settle and refund any execution, and open for API keys. Each relay process
    /// has its own key, so that the processes do not all write one account. Unused ones are zero.
    pub relay_authorities: [Pubkey; 8],
    /// Zero. For new fields that cannot go into another account.
    pub reserved: [u8; 64],
}

impl Config {
    /// Deposit that a price requires. Fails if the price is above the last tier.
    pub fn tier_deposit(&self, price: u64) -> Result<u64> {
        self.used_tiers()
            .iter()
            .find(|tier| price <= tier.max_price)
            .map(|tier| tier.deposit)
            .ok_or_else(|| fail(MarketplaceError::PriceAboveTiers))
    }

    /// The tiers in use, lowest first.
    pub fn used_tiers(&self) -> &[CollateralTier] {
        self.tiers.get(..usize::from(self.tier_count)).unwrap_or(&[])
    }

    /// Replace the tiers. The invariant checks their order.
    pub fn set_tiers(&mut self, tiers: &[CollateralTier]) -> Result<()> {
        ensure!(tiers.len() <= self.tiers.len(), InvalidTiers);
        self.tiers = Default::default();
        for (slot, tier) in self.tiers.iter_mut().zip(tiers) {
            *slot = *tier;
        }
        self.tier_count = u8::try_from(tiers.len()).unwrap_or(u8::MAX);
        Ok(())
    }

    /// True if this key is one of the relay authorities.
    pub fn is_relay_authority(&self, key: &Pubkey) -> bool {
        let used = usize::from(self.relay_authority_count);
        self.relay_authorities.iter().take(used).any(|it| it == key)
    }

    /// This key is one of the relay authorities.
    pub fn require_relay_authority(&self, key: &Pubkey) -> Result<()> {
        ensure!(self.is_relay_authority(key), NotRelayAuthority);
        Ok(())
    }

    /// The relay authorities in use.
    pub fn used_relay_authorities(&self) -> &[Pubkey] {
        self.relay_authorities.get(..usize::from(self.relay_authority_count)).unwrap_or(&[])
    }

    /// Replace the relay authorities: 1 to 8, none twice, none the zero key.
    pub fn set_relay_authorities(&mut self, authorities: &[Pubkey]) -> Result<()> {
        let distinct = authorities.iter().enumerate().all(|(index, key)| {
            *key != Pubkey::default()
                && authorities.iter().skip(index.saturating_add(1)).all(|it| it != key)
        });
        ensure!(
            distinct && (1..=self.relay_authorities.len()).contains(&authorities.len()),
            InvalidRelayAuthorities
        );
        self.relay_authorities = Default::default();
        for (slot, key) in self.relay_authorities.iter_mut().zip(authorities) {
            *slot = *key;
        }
        self.relay_authority_count = u8::try_from(authorities.len()).unwrap_or(u8::MAX);
        Ok(())
    }

    /// Remove one relay authority, even the last. Without any, nothing is settled, and nothing is opened for API keys.
    /// All pending changes of settings are cancelled: one of them may add the key again.
    pub fn remove_relay_authority(&mut self, key: &Pubkey, now: i64) -> Result<()> {
        ensure!(self.is_relay_authority(key), UnknownRelayAuthority);
        self.changes_valid_from = now;
        let kept: Vec<Pubkey> =
            self.used_relay_authorities().iter().filter(|it| *it != key).copied().collect();
        if kept.is_empty() {
            self.relay_authorities = Default::default();
            self.relay_authority_count = 0;
            return Ok(());
        }
        self.set_relay_authorities(&kept)
    }

    /// Add relay authorities to the current ones. Keys that are already relay authorities are skipped.
    pub fn add_relay_authorities(&mut self, added: &[Pubkey]) -> Result<()> {
        if added.is_empty() {
            return Ok(());
        }
        let mut all = self.used_relay_authorities().to_vec();
        all.extend(added.iter().filter(|key| !self.is_relay_authority(key)));
        self.set_relay_authorities(&all)
    }

    /// This key is the guardian or the admin. The zero key, which means no guardian, cannot sign.
    pub fn require_guardian_or_admin(&self, key: &Pubkey) -> Result<()> {
        ensure!(*key == self.guardian || *key == self.admin, NotGuardianOrAdmin);
        Ok(())
    }

    /// Set or lift the pause of each role that this key has. The guardian's pause also cancels all pending
    /// changes of settings: one of them may lift it.
    pub fn set_pause(&mut self, key: &Pubkey, is_paused: bool, now: i64) -> Result<()> {
        self.require_guardian_or_admin(key)?;
        if *key == self.admin {
            self.admin_paused = is_paused;
        }
        if *key == self.guardian {
            self.guardian_paused = is_paused;
            if is_paused {
                self.changes_valid_from = now;
            }
        }
        Ok(())
    }

    /// True if new executions are refused.
    pub fn opens_paused(&self) -> bool {
        self.admin_paused || self.guardian_paused
    }

    /// Money can leave the treasury.
    pub fn require_treasury_open(&self) -> Result<()> {
        ensure!(!self.guardian_paused, TreasuryPaused);
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! The marketplace's settings. One account, created once by the program's upgrade authority, never closed.

use anchor_lang::prelude::*;

use crate::constants::*;
use crate::errors::MarketplaceError;
use crate::guard::fail;

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

/// New values of settings. Absent fields keep their values.
#[derive(AnchorSerialize, AnchorDeserialize, InitSpace, Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsChange {
    /// True ends the guardian's pause. The admin's pause is no setting: `set_pause` changes it.
    pub lift_guardian_pause: bool,
    /// The marketplace's fee, basis points.
    pub fee_bps: Option<u16>,
    /// Lowest price of a listing, base units.
    pub min_price: Option<u64>,
    /// Bond of a dispute, lamports.
    pub dispute_bond_lamports: Option<u64>,
    /// Dispute window after a settle, seconds.
    pub dispute_window_seconds: Option<u32>,
    /// Time from an execution's deadline to its `refund_at`, seconds.
    pub refund_grace_seconds: Option<u32>,
    /// Longest timeout that a listing may offer, seconds.
    pub max_timeout_seconds: Option<u32>,
    /// Time from a paid execution's end until its record can be archived, seconds.
    pub record_seconds: Option<u32>,
    /// Limit of the prices opened in one dispute window, as a multiple of the collateral; 0 for no limit.
    pub exposure_multiple: Option<u32>,
    /// Delay before a proposed change can be applied, seconds; can only be raised.
    pub admin_delay_seconds: Option<u32>,
    /// 1 to 4 tiers, strictly increasing; replaces all.
    #[max_len(4)]
    pub tiers: Option<Vec<CollateralTier>>,
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
        self.tiers
            .get(..usize::from(self.tier_count))
            .unwrap_or(&[])
    }

    /// Replace the tiers. The invariant checks their order.
    pub fn set_tiers(&mut self, tiers: &[CollateralTier]) -> Result<()> {
        ensure!(
            tiers.len() <= self.tiers.len(),
            MarketplaceError::InvalidTiers
        );
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
        ensure!(
            self.is_relay_authority(key),
            MarketplaceError::NotRelayAuthority
        );
        Ok(())
    }

    /// The relay authorities in use.
    pub fn used_relay_authorities(&self) -> &[Pubkey] {
        self.relay_authorities
            .get(..usize::from(self.relay_authority_count))
            .unwrap_or(&[])
    }

    /// Replace the relay authorities: 1 to 8, none twice, none the zero key.
    pub fn set_relay_authorities(&mut self, authorities: &[Pubkey]) -> Result<()> {
        let distinct = authorities.iter().enumerate().all(|(index, key)| {
            *key != Pubkey::default()
                && authorities
                    .iter()
                    .skip(index.saturating_add(1))
                    .all(|it| it != key)
        });
        ensure!(
            distinct && (1..=self.relay_authorities.len()).contains(&authorities.len()),
            MarketplaceError::InvalidRelayAuthorities
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
        ensure!(
            self.is_relay_authority(key),
            MarketplaceError::UnknownRelayAuthority
        );
        self.changes_valid_from = now;
        let kept: Vec<Pubkey> = self
            .used_relay_authorities()
            .iter()
            .filter(|it| *it != key)
            .copied()
            .collect();
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
        ensure!(
            *key == self.guardian || *key == self.admin,
            MarketplaceError::NotGuardianOrAdmin
        );
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
        ensure!(!self.guardian_paused, MarketplaceError::TreasuryPaused);
        Ok(())
    }

    /// Apply the given settings, and check all settings.
    pub fn change_settings(&mut self, change: &SettingsChange) -> Result<()> {
        self.guardian_paused &= !change.lift_guardian_pause;
        set(&mut self.fee_bps, change.fee_bps);
        set(&mut self.min_price, change.min_price);
        set(
            &mut self.dispute_bond_lamports,
            change.dispute_bond_lamports,
        );
        set(
            &mut self.dispute_window_seconds,
            change.dispute_window_seconds,
        );
        set(&mut self.refund_grace_seconds, change.refund_grace_seconds);
        set(&mut self.max_timeout_seconds, change.max_timeout_seconds);
        set(&mut self.record_seconds, change.record_seconds);
        set(&mut self.exposure_multiple, change.exposure_multiple);
        if let Some(seconds) = change.admin_delay_seconds {
            ensure!(
                seconds >= self.admin_delay_seconds,
                MarketplaceError::AdminDelayOutOfBounds
            );
            self.admin_delay_seconds = seconds;
        }
        if let Some(tiers) = &change.tiers {
            self.set_tiers(tiers)?;
        }
        self.lengthen_span();
        self.invariant()
    }

    /// True if a change from these settings to `after` must be proposed: it lowers
    /// the protection of callers and creators, or changes what they pay or deposit.
    /// `record_seconds` waits in both directions. Shorter, it takes time from those who
    /// read a record by its address or dispute with it. Longer, it locks the rent that
    /// callers have lent, for records that are already open too.
    pub fn is_widened_by(&self, after: &Config) -> bool {
        /// 0 means no limit.
        fn limit(multiple: u32) -> u32 {
            if multiple == 0 {
                u32::MAX
            } else {
                multiple
            }
        }
        self.guardian_paused && !after.guardian_paused
            || after.admin_delay_seconds > self.admin_delay_seconds
            || after.fee_bps != self.fee_bps
            || after.min_price != self.min_price
            || after.dispute_bond_lamports != self.dispute_bond_lamports
            || after.tiers != self.tiers
            || after.dispute_window_seconds < self.dispute_window_seconds
            || after.record_seconds != self.record_seconds
            || limit(after.exposure_multiple) > limit(self.exposure_multiple)
    }

    /// The change may take effect immediately: there is no delay, or the change need not be proposed.
    pub fn require_immediate(&self, is_widened: bool) -> Result<()> {
        ensure!(
            self.admin_delay_seconds == 0 || !is_widened,
            MarketplaceError::ChangeMustWait
        );
        Ok(())
    }

    /// Update the longest span ever in force.
    pub fn lengthen_span(&mut self) {
        self.longest_span_seconds = self.longest_span_seconds.max(self.span_seconds());
    }

    /// Longest time from an open now to the end of its dispute window, seconds.
    pub fn span_seconds(&self) -> u32 {
        self.max_timeout_seconds
            .saturating_add(self.refund_grace_seconds)
            .saturating_add(self.dispute_window_seconds)
    }

    /// Every setting is within its bounds. Called after each change.
    pub fn invariant(&self) -> Result<()> {
        ensure!(
            self.fee_bps <= MAX_FEE_BPS,
            MarketplaceError::FeeOutOfBounds
        );
        ensure!(
            (MIN_PRICE_FLOOR..=MIN_PRICE_CEILING).contains(&self.min_price),
            MarketplaceError::MinPriceOutOfBounds
        );
        ensure!(
            (DISPUTE_WINDOW_SECONDS_MIN..=DISPUTE_WINDOW_SECONDS_MAX)
                .contains(&self.dispute_window_seconds),
            MarketplaceError::DisputeWindowOutOfBounds
        );
        ensure!(
            (REFUND_GRACE_SECONDS_MIN..=REFUND_GRACE_SECONDS_MAX)
                .contains(&self.refund_grace_seconds),
            MarketplaceError::RefundGraceOutOfBounds
        );
        ensure!(
            (MAX_TIMEOUT_SECONDS_MIN..=MAX_TIMEOUT_SECONDS_MAX).contains(&self.max_timeout_seconds),
            MarketplaceError::MaxTimeoutOutOfBounds
        );
        ensure!(
            (RECORD_SECONDS_MIN..=RECORD_SECONDS_MAX).contains(&self.record_seconds),
            MarketplaceError::RecordSecondsOutOfBounds
        );
        ensure!(
            self.dispute_bond_lamports <= DISPUTE_BOND_LAMPORTS_MAX,
            MarketplaceError::BondOutOfBounds
        );
        ensure!(
            self.exposure_multiple <= EXPOSURE_MULTIPLE_MAX,
            MarketplaceError::ExposureMultipleOutOfBounds
        );
        ensure!(
            self.admin_delay_seconds <= ADMIN_DELAY_SECONDS_MAX,
            MarketplaceError::AdminDelayOutOfBounds
        );
        let tiers = self.used_tiers();
        ensure!(!tiers.is_empty(), MarketplaceError::InvalidTiers);
        ensure!(
            tiers.iter().all(|tier| {
                (self.min_price..=TIER_PRICE_MAX).contains(&tier.max_price)
                    && tier.deposit <= TIER_DEPOSIT_MAX
            }),
            MarketplaceError::InvalidTiers
        );
        for pair in tiers.windows(2) {
            let [lower, upper] = pair else { continue };
            ensure!(
                lower.max_price < upper.max_price && lower.deposit < upper.deposit,
                MarketplaceError::InvalidTiers
            );
        }
        Ok(())
    }
}

fn set<T: Copy>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

#[cfg(test)]
mod tests;

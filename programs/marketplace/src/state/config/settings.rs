//! How settings change: new values, which of them must wait, and the bounds of each.

use anchor_lang::prelude::*;

use super::{CollateralTier, Config};
use crate::constants::*;

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

impl Config {
    /// Apply the given settings, and check all settings.
    pub fn change_settings(&mut self, change: &SettingsChange) -> Result<()> {
        self.guardian_paused &= !change.lift_guardian_pause;
        set(&mut self.fee_bps, change.fee_bps);
        set(&mut self.min_price, change.min_price);
        set(&mut self.dispute_bond_lamports, change.dispute_bond_lamports);
        set(&mut self.dispute_window_seconds, change.dispute_window_seconds);
        set(&mut self.refund_grace_seconds, change.refund_grace_seconds);
        set(&mut self.max_timeout_seconds, change.max_timeout_seconds);
        set(&mut self.record_seconds, change.record_seconds);
        set(&mut self.exposure_multiple, change.exposure_multiple);
        if let Some(seconds) = change.admin_delay_seconds {
            ensure!(seconds >= self.admin_delay_seconds, AdminDelayOutOfBounds);
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
        ensure!(self.admin_delay_seconds == 0 || !is_widened, ChangeMustWait);
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
        ensure!(self.fee_bps <= MAX_FEE_BPS, FeeOutOfBounds);
        ensure!(
            (MIN_PRICE_FLOOR..=MIN_PRICE_CEILING).contains(&self.min_price),
            MinPriceOutOfBounds
        );
        ensure!(
            (DISPUTE_WINDOW_SECONDS_MIN..=DISPUTE_WINDOW_SECONDS_MAX)
                .contains(&self.dispute_window_seconds),
            DisputeWindowOutOfBounds
        );
        ensure!(
            (REFUND_GRACE_SECONDS_MIN..=REFUND_GRACE_SECONDS_MAX)
                .contains(&self.refund_grace_seconds),
            RefundGraceOutOfBounds
        );
        ensure!(
            (MAX_TIMEOUT_SECONDS_MIN..=MAX_TIMEOUT_SECONDS_MAX).contains(&self.max_timeout_seconds),
            MaxTimeoutOutOfBounds
        );
        ensure!(
            (RECORD_SECONDS_MIN..=RECORD_SECONDS_MAX).contains(&self.record_seconds),
            RecordSecondsOutOfBounds
        );
        ensure!(self.dispute_bond_lamports <= DISPUTE_BOND_LAMPORTS_MAX, BondOutOfBounds);
        ensure!(self.exposure_multiple <= EXPOSURE_MULTIPLE_MAX, ExposureMultipleOutOfBounds);
        ensure!(self.admin_delay_seconds <= ADMIN_DELAY_SECONDS_MAX, AdminDelayOutOfBounds);
        let tiers = self.used_tiers();
        ensure!(!tiers.is_empty(), InvalidTiers);
        ensure!(
            tiers.iter().all(|tier| {
                (self.min_price..=TIER_PRICE_MAX).contains(&tier.max_price)
                    && tier.deposit <= TIER_DEPOSIT_MAX
            }),
            InvalidTiers
        );
        for pair in tiers.windows(2) {
            let [lower, upper] = pair else { continue };
            ensure!(
                lower.max_price < upper.max_price && lower.deposit < upper.deposit,
                InvalidTiers
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

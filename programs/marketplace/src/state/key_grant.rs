//! One API key's spending right, signed by its wallet. The relay accepts a key only while its grant is live.

use anchor_lang::prelude::*;

use crate::constants::MAX_GRANT_SECONDS;
use crate::errors::MarketplaceError;

/// The limits of a grant; every one must be above zero.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantLimits {
    /// Most that one execution may cost, base units, inclusive.
    pub per_execution_max: u64,
    /// Most that may be spent in one period, base units, inclusive.
    pub period_max: u64,
    /// Most that may ever be spent, base units, inclusive.
    pub total_max: u64,
    /// Length of a period, seconds; periods follow one another from `created_at`.
    pub period_seconds: u32,
    /// The right ends at this moment, unix seconds; at most a year from now.
    pub expires_at: i64,
}

impl GrantLimits {
    /// All limits are above zero and the end is ahead, by a year at most.
    pub fn validate(&self, now: i64) -> Result<()> {
        require!(
            self.per_execution_max > 0
                && self.period_max > 0
                && self.total_max > 0
                && self.period_seconds > 0,
            MarketplaceError::GrantLimitZero
        );
        require!(
            self.expires_at > now && self.expires_at <= now.saturating_add(MAX_GRANT_SECONDS),
            MarketplaceError::GrantExpiryOutOfBounds
        );
        Ok(())
    }
}

/// One key's right to spend from one wallet.
#[account]
#[derive(InitSpace, Debug)]
pub struct KeyGrant {
    /// Layout version, 1.
    pub version: u8,
    /// True once revoked; never becomes false again.
    pub revoked: bool,
    /// Bump of this address.
    pub bump: u8,
    /// The wallet whose USDC may be spent.
    pub wallet: Pubkey,
    /// First 16 bytes of SHA-256 of the whole API key.
    pub key_id: [u8; 16],
    /// Most that one execution may cost, base units.
    pub per_execution_max: u64,
    /// Most that may be spent in one period, base units.
    pub period_max: u64,
    /// Most that may ever be spent, base units.
    pub total_max: u64,
    /// Length of a period, seconds.
    pub period_seconds: u32,
    /// The right ends at this moment, unix seconds.
    pub expires_at: i64,
    /// When it was made, unix seconds.
    pub created_at: i64,
    /// Start of the period that `period_spent` counts, unix seconds.
    pub period_start: i64,
    /// Spent in that period, refunds taken off, base units.
    pub period_spent: u64,
    /// Spent since `created_at`, refunds taken off, base units.
    pub total_spent: u64,
    /// Executions opened with this key, refunded ones too.
    pub execution_count: u64,
}

impl KeyGrant {
    /// Whether the right can be used at all.
    pub fn require_live(&self, now: i64) -> Result<()> {
        require!(!self.revoked, MarketplaceError::GrantRevoked);
        require!(now < self.expires_at, MarketplaceError::GrantExpired);
        Ok(())
    }

    /// End the right for good.
    pub fn revoke(&mut self) -> Result<()> {
        require!(!self.revoked, MarketplaceError::GrantRevoked);
        self.revoked = true;
        Ok(())
    }

    /// Spend a price, within every limit.
    pub fn debit(&mut self, price: u64, now: i64) -> Result<()> {
        self.require_live(now)?;
        require!(
            price <= self.per_execution_max,
            MarketplaceError::GrantPerExecutionExceeded
        );
        let period = i64::from(self.period_seconds).max(1);
        let elapsed = now.saturating_sub(self.period_start);
        if elapsed >= period {
            let periods = elapsed.checked_div(period).unwrap_or(0);
            self.period_start = self
                .period_start
                .saturating_add(periods.saturating_mul(period));
            self.period_spent = 0;
        }
        let period_spent = self
            .period_spent
            .checked_add(price)
            .ok_or(MarketplaceError::ArithmeticOverflow)?;
        require!(
            period_spent <= self.period_max,
            MarketplaceError::GrantPeriodExceeded
        );
        let total_spent = self
            .total_spent
            .checked_add(price)
            .ok_or(MarketplaceError::ArithmeticOverflow)?;
        require!(
            total_spent <= self.total_max,
            MarketplaceError::GrantTotalExceeded
        );
        self.period_spent = period_spent;
        self.total_spent = total_spent;
        self.execution_count = self.execution_count.saturating_add(1);
        Ok(())
    }

    /// Give a refunded price back, if this is still the same live grant that paid it. The period
    /// gets it back only while it is the one in which it was spent.
    pub fn restore(&mut self, price: u64, opened_at: i64) -> bool {
        if self.revoked || self.created_at > opened_at {
            return false;
        }
        self.total_spent = self.total_spent.saturating_sub(price);
        if opened_at >= self.period_start {
            self.period_spent = self.period_spent.saturating_sub(price);
        }
        true
    }

    /// Spend never exceeds a limit, and a period's spend never the whole.
    pub fn invariant(&self) -> Result<()> {
        require!(
            self.total_spent <= self.total_max
                && self.period_spent <= self.period_max
                && self.period_spent <= self.total_spent,
            MarketplaceError::GrantOverspent
        );
        Ok(())
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// First 8 bytes of SHA-256("account:KeyGrant").
    const DISCRIMINATOR: [u8; 8] = [0x67, 0x37, 0x87, 0x27, 0x6d, 0xb1, 0xbc, 0x7a];

    fn grant() -> KeyGrant {
        KeyGrant {
            version: 1,
            revoked: false,
            bump: 2,
            wallet: Pubkey::new_from_array([3; 32]),
            key_id: [4; 16],
            per_execution_max: 50,
            period_max: 60,
            total_max: 150,
            period_seconds: 10,
            expires_at: 200,
            created_at: 100,
            period_start: 100,
            period_spent: 0,
            total_spent: 0,
            execution_count: 0,
        }
    }

    #[test]
    fn layout() {
        let mut grant = grant();
        grant.revoked = true;
        (grant.period_spent, grant.total_spent, grant.execution_count) = (5, 6, 7);
        let mut bytes = Vec::new();
        grant.try_serialize(&mut bytes).unwrap();
        let mut expected = [&DISCRIMINATOR[..], &[1, 1, 2], &[3; 32], &[4; 16]].concat();
        for number in [50u8, 60, 150] {
            expected.extend([number, 0, 0, 0, 0, 0, 0, 0]);
        }
        expected.extend([10, 0, 0, 0]);
        for number in [200u8, 100, 100, 5, 6, 7] {
            expected.extend([number, 0, 0, 0, 0, 0, 0, 0]);
        }
        assert_eq!(bytes, expected);
        assert_eq!(bytes.len(), 8 + KeyGrant::INIT_SPACE);
    }

    #[test]
    fn limits_are_inclusive_and_periods_half_open() {
        use MarketplaceError::*;
        let mut grant = grant();
        assert_eq!(grant.debit(51, 100), Err(error!(GrantPerExecutionExceeded)));
        assert!(grant.debit(50, 100).is_ok() && grant.debit(10, 109).is_ok());
        assert_eq!(grant.debit(1, 109), Err(error!(GrantPeriodExceeded)));
        assert!(grant.debit(50, 135).is_ok());
        assert_eq!((grant.period_start, grant.period_spent), (130, 50));
        assert!(grant.debit(40, 150).is_ok());
        assert_eq!(grant.debit(1, 160), Err(error!(GrantTotalExceeded)));
        assert_eq!((grant.total_spent, grant.execution_count), (150, 4));
        assert!(grant.invariant().is_ok());
        assert_eq!(grant.debit(1, 200), Err(error!(GrantExpired)));
        assert!(grant.revoke().is_ok());
        assert_eq!(grant.revoke(), Err(error!(GrantRevoked)));
        assert_eq!(grant.debit(1, 100), Err(error!(GrantRevoked)));
    }

    #[test]
    fn a_refund_restores_only_the_grant_and_the_period_that_paid() {
        let mut grant = grant();
        assert!(grant.debit(50, 105).is_ok() && grant.debit(20, 115).is_ok());
        assert_eq!((grant.period_start, grant.period_spent), (110, 20));
        assert!(grant.restore(50, 105));
        assert_eq!((grant.period_spent, grant.total_spent), (20, 20));
        assert!(grant.restore(20, 115));
        assert_eq!((grant.period_spent, grant.total_spent), (0, 0));
        assert!(!grant.restore(50, 99), "older than this grant");
        assert!(grant.revoke().is_ok() && !grant.restore(50, 115));
    }

    #[test]
    fn spend_above_a_limit_is_unsound() {
        for (period, total) in [(61, 61), (0, 151), (2, 1)] {
            let mut grant = grant();
            (grant.period_spent, grant.total_spent) = (period, total);
            assert_eq!(
                grant.invariant(),
                Err(error!(MarketplaceError::GrantOverspent))
            );
        }
    }

    #[test]
    fn limits_must_be_positive_and_end_within_a_year() {
        let limits = |expires_at| GrantLimits {
            per_execution_max: 1,
            period_max: 1,
            total_max: 1,
            period_seconds: 1,
            expires_at,
        };
        assert!(limits(101).validate(100).is_ok());
        assert!(limits(100 + MAX_GRANT_SECONDS).validate(100).is_ok());
        for expires_at in [100, 101 + MAX_GRANT_SECONDS, i64::MAX, i64::MIN] {
            assert_eq!(
                limits(expires_at).validate(100),
                Err(error!(MarketplaceError::GrantExpiryOutOfBounds))
            );
        }
    }
}

//! One API key's spending right, signed by its wallet. The relay accepts a key only while its grant is valid.

use anchor_lang::prelude::*;

use crate::constants::{GRANT_SEED, MAX_GAS_LAMPORTS, MAX_GRANT_SECONDS, SPENDER_SEED};
use crate::errors::MarketplaceError;
use crate::guard::{fail, require_address};

/// The limits of a grant. All except `max_gas_lamports` must be above zero.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantLimits {
    /// Most that one execution may cost, base units, inclusive.
    pub per_execution_max: u64,
    /// Most that may be spent in one period, base units, inclusive.
    pub period_max: u64,
    /// Most that may ever be spent, base units, inclusive.
    pub total_max: u64,
    /// Length of a period, seconds. Periods follow one another from `created_at`, or from a change of this length.
    pub period_seconds: u32,
    /// The right expires at this time, unix seconds; at most a year from now.
    pub expires_at: i64,
    /// Most fee and gas that one execution may take from the wallet's gas balance, lamports; 0 for none. Lent rent does
    /// not count: it comes back.
    pub max_gas_lamports: u32,
}

impl GrantLimits {
    /// The limits are above zero, the expiry is at most a year ahead, and the gas limit is within its bound.
    pub fn validate(&self, now: i64) -> Result<()> {
        ensure!(
            self.per_execution_max > 0
                && self.period_max > 0
                && self.total_max > 0
                && self.period_seconds > 0,
            MarketplaceError::GrantLimitZero
        );
        ensure!(
            self.expires_at > now && self.expires_at <= now.saturating_add(MAX_GRANT_SECONDS),
            MarketplaceError::GrantExpiryOutOfBounds
        );
        ensure!(
            self.max_gas_lamports <= MAX_GAS_LAMPORTS,
            MarketplaceError::GrantGasOutOfBounds
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
    /// Bump of the wallet's `Spender` address.
    pub spender_bump: u8,
    /// Bump of the wallet's associated USDC account.
    pub source_bump: u8,
    /// The wallet whose USDC may be spent.
    pub wallet: Pubkey,
    /// First 16 bytes of SHA-256 of the whole API key.
    pub key_id: [u8; 16],
    /// The account that paid this account's rent. It gets the rent back.
    pub rent_sponsor: Pubkey,
    /// Most that one execution may cost, base units.
    pub per_execution_max: u64,
    /// Most that may be spent in one period, base units.
    pub period_max: u64,
    /// Most that may ever be spent, base units.
    pub total_max: u64,
    /// Length of a period, seconds.
    pub period_seconds: u32,
    /// The right expires at this time, unix seconds.
    pub expires_at: i64,
    /// When it was made, unix seconds.
    pub created_at: i64,
    /// Start of the period that `period_spent` counts, unix seconds.
    pub period_start: i64,
    /// Spent in that period, without refunds, base units.
    pub period_spent: u64,
    /// Spent since `created_at`, without refunds, base units.
    pub total_spent: u64,
    /// Executions opened with this key, refunded ones too.
    pub execution_count: u64,
    /// When the latest of them was opened, unix seconds; 0 before the first.
    pub last_opened_at: i64,
    /// Most fee and gas that one execution may take from the wallet's gas balance, lamports.
    pub max_gas_lamports: u32,
    /// Zero. Reserved for fields of later versions.
    pub reserved: [u8; 16],
}

impl KeyGrant {
    /// The account is at the address of this grant. For a grant that may be missing, which no constraint can check.
    pub fn is_at(&self, key: &Pubkey) -> bool {
        let seeds: [&[u8]; 4] = [GRANT_SEED, self.wallet.as_ref(), &self.key_id, &[self.bump]];
        Pubkey::create_program_address(&seeds, &crate::ID).as_ref() == Ok(key)
    }

    /// The grant is neither revoked nor expired.
    pub fn require_live(&self, now: i64) -> Result<()> {
        ensure!(!self.revoked, MarketplaceError::GrantRevoked);
        ensure!(now < self.expires_at, MarketplaceError::GrantExpired);
        Ok(())
    }

    /// Replace the limits. Past spending still counts, even if it exceeds them.
    pub fn set_limits(&mut self, limits: &GrantLimits, now: i64) -> Result<()> {
        limits.validate(now)?;
        ensure!(!self.revoked, MarketplaceError::GrantRevoked);
        if limits.period_seconds != self.period_seconds {
            // Periods of another length begin now, and the spend of the current period counts in the first of them.
            // Otherwise a shorter length could forget this spend, and refunds of it would be given back twice.
            self.roll_period(now);
            self.period_start = now;
        }
        self.per_execution_max = limits.per_execution_max;
        self.period_max = limits.period_max;
        self.total_max = limits.total_max;
        self.period_seconds = limits.period_seconds;
        self.expires_at = limits.expires_at;
        self.max_gas_lamports = limits.max_gas_lamports;
        Ok(())
    }

    /// The account can be closed, but not in the second of its latest open. A new grant made in that second would
    /// pass for the one that paid, and a refund would lower its spend.
    pub fn require_closable(&self, now: i64) -> Result<()> {
        ensure!(now > self.last_opened_at, MarketplaceError::GrantInUse);
        Ok(())
    }

    /// Revoke the right permanently.
    pub fn revoke(&mut self) -> Result<()> {
        ensure!(!self.revoked, MarketplaceError::GrantRevoked);
        self.revoked = true;
        Ok(())
    }

    /// Begin the period that contains `now`, if it is a later one.
    fn roll_period(&mut self, now: i64) {
        let period = i64::from(self.period_seconds).max(1);
        let elapsed = now.saturating_sub(self.period_start);
        if elapsed >= period {
            let periods = elapsed.checked_div(period).unwrap_or(0);
            self.period_start = self
                .period_start
                .saturating_add(periods.saturating_mul(period));
            self.period_spent = 0;
        }
    }

    /// Spend a price, within every limit.
    pub fn debit(&mut self, price: u64, now: i64) -> Result<()> {
        self.require_live(now)?;
        ensure!(
            price <= self.per_execution_max,
            MarketplaceError::GrantPerExecutionExceeded
        );
        self.roll_period(now);
        let period_spent = self
            .period_spent
            .checked_add(price)
            .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
        ensure!(
            period_spent <= self.period_max,
            MarketplaceError::GrantPeriodExceeded
        );
        let total_spent = self
            .total_spent
            .checked_add(price)
            .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
        ensure!(
            total_spent <= self.total_max,
            MarketplaceError::GrantTotalExceeded
        );
        self.period_spent = period_spent;
        self.total_spent = total_spent;
        self.execution_count = self.execution_count.saturating_add(1);
        self.last_opened_at = now;
        Ok(())
    }

    /// Fee and gas together are within what the wallet allowed for one execution.
    pub fn require_gas(&self, fee_lamports: u32, gas_lamports: u32) -> Result<()> {
        ensure!(
            u64::from(fee_lamports).saturating_add(gas_lamports.into())
                <= self.max_gas_lamports.into(),
            MarketplaceError::GrantGasExceeded
        );
        Ok(())
    }

    /// Subtract a refunded price, if this is still the grant that paid it and it is not revoked. The period's
    /// spend is lowered only if the price was spent in the current period.
    pub fn restore(&mut self, price: u64, opened_at: i64) -> bool {
        if self.revoked || self.created_at > opened_at {
            return false;
        }
        self.total_spent = self.total_spent.saturating_sub(price);
        if opened_at >= self.period_start {
            self.period_spent = self.period_spent.saturating_sub(price);
        }
        // The spend carried over from a period of another length may include this price.
        self.period_spent = self.period_spent.min(self.total_spent);
        true
    }

    /// Spend never exceeds a limit, and a period's spend never exceeds the total.
    pub fn invariant(&self) -> Result<()> {
        ensure!(
            self.total_spent <= self.total_max
                && self.period_spent <= self.period_max
                && self.period_spent <= self.total_spent,
            MarketplaceError::GrantOverspent
        );
        Ok(())
    }
}

/// The account is the wallet's `Spender`. Without a known bump its address is searched.
pub fn require_spender(key: &Pubkey, wallet: &Pubkey, bump: Option<u8>) -> Result<()> {
    let address = match bump {
        Some(bump) => {
            Pubkey::create_program_address(&[SPENDER_SEED, wallet.as_ref(), &[bump]], &crate::ID)
                .map_err(|_| fail(MarketplaceError::WrongAddress))?
        }
        None => Pubkey::find_program_address(&[SPENDER_SEED, wallet.as_ref()], &crate::ID).0,
    };
    require_address(key, &address)
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
            spender_bump: 5,
            source_bump: 7,
            wallet: Pubkey::new_from_array([3; 32]),
            key_id: [4; 16],
            rent_sponsor: Pubkey::new_from_array([6; 32]),
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
            last_opened_at: 0,
            max_gas_lamports: 9,
            reserved: [0; 16],
        }
    }

    #[test]
    fn layout() {
        let mut grant = grant();
        grant.revoked = true;
        (grant.period_spent, grant.total_spent) = (5, 6);
        (grant.execution_count, grant.last_opened_at) = (7, 8);
        let mut bytes = Vec::new();
        grant.try_serialize(&mut bytes).unwrap();
        let mut expected = [
            &DISCRIMINATOR[..],
            &[1, 1, 2, 5, 7],
            &[3; 32],
            &[4; 16],
            &[6; 32],
        ]
        .concat();
        for number in [50u8, 60, 150] {
            expected.extend([number, 0, 0, 0, 0, 0, 0, 0]);
        }
        expected.extend([10, 0, 0, 0]);
        for number in [200u8, 100, 100, 5, 6, 7, 8] {
            expected.extend([number, 0, 0, 0, 0, 0, 0, 0]);
        }
        expected.extend([9, 0, 0, 0]);
        expected.extend([0; 16]);
        assert_eq!(bytes, expected);
        assert_eq!(bytes.len(), 8 + KeyGrant::INIT_SPACE);
    }

    #[test]
    fn limits_are_inclusive_and_periods_half_open() {
        use MarketplaceError::*;
        let mut grant = grant();
        assert_eq!(grant.debit(51, 100), Err(fail(GrantPerExecutionExceeded)));
        assert!(grant.debit(50, 100).is_ok() && grant.debit(10, 109).is_ok());
        assert_eq!(grant.debit(1, 109), Err(fail(GrantPeriodExceeded)));
        assert!(grant.debit(50, 135).is_ok());
        assert_eq!((grant.period_start, grant.period_spent), (130, 50));
        assert!(grant.debit(40, 150).is_ok());
        assert_eq!(grant.debit(1, 160), Err(fail(GrantTotalExceeded)));
        assert_eq!((grant.total_spent, grant.execution_count), (150, 4));
        assert!(grant.invariant().is_ok());
        assert_eq!(grant.debit(1, 200), Err(fail(GrantExpired)));
        assert!(grant.revoke().is_ok());
        assert_eq!(grant.revoke(), Err(fail(GrantRevoked)));
        assert_eq!(grant.debit(1, 100), Err(fail(GrantRevoked)));
    }

    #[test]
    fn fee_and_gas_share_one_limit() {
        let over = Err(fail(MarketplaceError::GrantGasExceeded));
        let grant = grant();
        for (fee, gas) in [(0, 9), (9, 0), (4, 5)] {
            assert!(grant.require_gas(fee, gas).is_ok());
        }
        for (fee, gas) in [(0, 10), (10, 0), (5, 5), (u32::MAX, 1), (1, u32::MAX)] {
            assert_eq!(grant.require_gas(fee, gas), over);
        }
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
                Err(fail(MarketplaceError::GrantOverspent))
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
            max_gas_lamports: MAX_GAS_LAMPORTS,
        };
        assert!(limits(101).validate(100).is_ok());
        assert!(limits(100 + MAX_GRANT_SECONDS).validate(100).is_ok());
        for expires_at in [100, 101 + MAX_GRANT_SECONDS, i64::MAX, i64::MIN] {
            assert_eq!(
                limits(expires_at).validate(100),
                Err(fail(MarketplaceError::GrantExpiryOutOfBounds))
            );
        }
    }

    #[test]
    fn limits_may_fall_below_the_spend_and_the_account_stays_in_the_second_of_an_open() {
        use MarketplaceError::*;
        let mut grant = grant();
        assert!(grant.require_closable(0).is_err() && grant.require_closable(1).is_ok());
        assert!(grant.debit(50, 105).is_ok());
        assert_eq!(grant.require_closable(105), Err(fail(GrantInUse)));
        assert!(grant.require_closable(106).is_ok());
        let lower = GrantLimits {
            per_execution_max: 10,
            period_max: 20,
            total_max: 30,
            period_seconds: 10,
            expires_at: 150,
            max_gas_lamports: 9,
        };
        assert!(grant.set_limits(&lower, 106).is_ok());
        assert_eq!((grant.total_max, grant.total_spent), (30, 50));
        assert_eq!(grant.debit(1, 107), Err(fail(GrantPeriodExceeded)));
        assert_eq!(grant.debit(1, 117), Err(fail(GrantTotalExceeded)));
        assert!(grant.restore(50, 105) && grant.debit(10, 117).is_ok());
        assert!(grant.revoke().is_ok());
        assert_eq!(grant.set_limits(&lower, 117), Err(fail(GrantRevoked)));
        assert_eq!(
            grant.set_limits(&lower, 150),
            Err(fail(GrantExpiryOutOfBounds))
        );
    }

    #[test]
    fn another_period_length_forgets_no_spend() {
        use MarketplaceError::*;
        let mut grant = grant();
        assert!(grant.debit(50, 109).is_ok());
        let shorter = GrantLimits {
            per_execution_max: 50,
            period_max: 60,
            total_max: 150,
            period_seconds: 4,
            expires_at: 200,
            max_gas_lamports: 9,
        };
        assert!(grant.set_limits(&shorter, 109).is_ok());
        assert_eq!((grant.period_start, grant.period_spent), (109, 50));
        assert_eq!(grant.debit(11, 112), Err(fail(GrantPeriodExceeded)));
        assert!(grant.debit(10, 112).is_ok());
        assert!(grant.set_limits(&shorter, 112).is_ok());
        assert_eq!(grant.period_start, 109, "the same length changes nothing");
        let longer = GrantLimits {
            period_seconds: 50,
            ..shorter
        };
        assert!(grant.set_limits(&longer, 114).is_ok());
        assert_eq!((grant.period_start, grant.period_spent), (114, 0));
        assert!(grant.restore(50, 109) && grant.period_spent == 0);
    }

    #[test]
    fn a_refund_of_spend_that_another_length_carried_over_leaves_the_grant_usable() {
        let mut grant = grant();
        assert!(grant.debit(50, 105).is_ok());
        let longer = GrantLimits {
            per_execution_max: 50,
            period_max: 60,
            total_max: 150,
            period_seconds: 50,
            expires_at: 200,
            max_gas_lamports: 9,
        };
        assert!(grant.set_limits(&longer, 108).is_ok());
        assert!(grant.restore(50, 105));
        assert_eq!((grant.period_spent, grant.total_spent), (0, 0));
        assert!(grant.debit(50, 109).is_ok() && grant.invariant().is_ok());
    }
}

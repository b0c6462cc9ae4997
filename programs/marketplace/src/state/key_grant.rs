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
            GrantLimitZero
        );
        ensure!(
            self.expires_at > now && self.expires_at <= now.saturating_add(MAX_GRANT_SECONDS),
            GrantExpiryOutOfBounds
        );
        ensure!(self.max_gas_lamports <= MAX_GAS_LAMPORTS, GrantGasOutOfBounds);
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
        ensure!(!self.revoked, GrantRevoked);
        ensure!(now < self.expires_at, GrantExpired);
        Ok(())
    }

    /// Replace the limits. Past spending still counts, even if it exceeds them.
    pub fn set_limits(&mut self, limits: &GrantLimits, now: i64) -> Result<()> {
        limits.validate(now)?;
        ensure!(!self.revoked, GrantRevoked);
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
        ensure!(now > self.last_opened_at, GrantInUse);
        Ok(())
    }

    /// Revoke the right permanently.
    pub fn revoke(&mut self) -> Result<()> {
        ensure!(!self.revoked, GrantRevoked);
        self.revoked = true;
        Ok(())
    }

    /// Begin the period that contains `now`, if it is a later one.
    fn roll_period(&mut self, now: i64) {
        let period = i64::from(self.period_seconds).max(1);
        let elapsed = now.saturating_sub(self.period_start);
        if elapsed >= period {
            let periods = elapsed.checked_div(period).unwrap_or(0);
            self.period_start = self.period_start.saturating_add(periods.saturating_mul(period));
            self.period_spent = 0;
        }
    }

    /// Spend a price, within every limit.
    pub fn debit(&mut self, price: u64, now: i64) -> Result<()> {
        self.require_live(now)?;
        ensure!(price <= self.per_execution_max, GrantPerExecutionExceeded);
        self.roll_period(now);
        let period_spent = self
            .period_spent
            .checked_add(price)
            .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
        ensure!(period_spent <= self.period_max, GrantPeriodExceeded);
        let total_spent = self
            .total_spent
            .checked_add(price)
            .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
        ensure!(total_spent <= self.total_max, GrantTotalExceeded);
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
            GrantGasExceeded
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
            GrantOverspent
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
mod tests;

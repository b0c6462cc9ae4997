//! A listing's collateral, from which upheld disputes are paid. The tokens are in a separate account, the vault.

use anchor_lang::prelude::*;

use crate::constants::{COLLATERAL_VAULT_SEED, SLASH_MULTIPLE};
use crate::errors::MarketplaceError;
use crate::guard::fail;

/// Book-keeping of one collateral vault, all amounts in base units of USDC.
#[account]
#[derive(InitSpace, Debug)]
pub struct CreatorCollateral {
    /// Layout version, 1.
    pub version: u8,
    /// True once the rest went back to the creator. The vault stays while an award is owed.
    pub returned: bool,
    /// Bump of this address.
    pub bump: u8,
    /// Bump of the vault.
    pub vault_bump: u8,
    /// The listing that this collateral belongs to.
    pub listing: Pubkey,
    /// The account that paid the vault's rent. It gets the rent back when the vault closes.
    pub rent_sponsor: Pubkey,
    /// Total that the creator has deposited.
    pub deposited: u64,
    /// Total taken from the creator by upheld disputes: paid out, owed or forfeited.
    pub slashed: u64,
    /// Slashed but still owed, because the caller's account cannot receive it.
    pub owed: u64,
    /// Slashed beyond the prices of its disputes, and still in the vault. It pays later callers, and at last the treasury.
    pub forfeited: u64,
    /// Sum of the prices opened since `exposure_window_start`, without refunded ones, base units.
    pub exposure_opened: u64,
    /// Start of the window over which exposure is counted, unix seconds.
    pub exposure_window_start: i64,
    /// Time from which the collateral can go back, unix seconds; 0 before delisting.
    pub returnable_at: i64,
    /// Time from which the forfeited part can go to the treasury without a delisting, unix seconds: the longest span
    /// after the last upheld dispute. 0 before the first one.
    pub sweepable_at: i64,
    /// Number of open disputes.
    pub open_disputes: u32,
    /// Zero. Reserved for fields of later versions.
    pub reserved: [u8; 24],
}

/// How an upheld dispute is paid, base units. `slashed` above `to_caller` was forfeited; `to_caller` above `slashed` came
/// from earlier forfeits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slash {
    /// What the caller gets.
    pub to_caller: u64,
    /// What the creator loses.
    pub slashed: u64,
}

impl CreatorCollateral {
    /// Signer seeds of the vault, which is its own authority.
    pub fn vault_seeds(&self) -> [&[u8]; 3] {
        let bump = std::slice::from_ref(&self.vault_bump);
        [COLLATERAL_VAULT_SEED, self.listing.as_ref(), bump]
    }

    /// Collateral that still counts for the tier and the exposure limit, and can be slashed or returned.
    pub fn available(&self) -> u64 {
        self.deposited.saturating_sub(self.slashed)
    }

    /// The listing has at least this collateral.
    pub fn require_deposit(&self, deposit: u64) -> Result<()> {
        ensure!(self.available() >= deposit, CollateralBelowTier);
        Ok(())
    }

    /// Count a price towards the exposure limit. A multiple of 0 means no limit. Prices
    /// count even then, so a refund never subtracts a price that was not counted.
    pub fn add_exposure(
        &mut self,
        price: u64,
        multiple: u32,
        window_seconds: u32,
        now: i64,
    ) -> Result<()> {
        self.book_invariant()?;
        if now.saturating_sub(self.exposure_window_start) >= i64::from(window_seconds) {
            self.exposure_window_start = now;
            self.exposure_opened = 0;
        }
        let opened = self
            .exposure_opened
            .checked_add(price)
            .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
        let limit = u128::from(self.available()) * u128::from(multiple);
        ensure!(multiple == 0 || u128::from(opened) <= limit, ExposureLimitReached);
        self.exposure_opened = opened;
        Ok(())
    }

    /// Subtract a refunded price, if it was opened in the current window.
    pub fn return_exposure(&mut self, price: u64, opened_at: i64) {
        if opened_at >= self.exposure_window_start {
            self.exposure_opened = self.exposure_opened.saturating_sub(price);
        }
    }

    /// Add to the deposit.
    pub fn top_up(&mut self, amount: u64) -> Result<()> {
        self.deposited = add(self.deposited, amount)?;
        Ok(())
    }

    /// Set the time from which a delisted listing's collateral can go back. Later settings do not change it.
    pub fn delist(&mut self, now: i64, longest_span_seconds: u32) {
        self.returnable_at = now.saturating_add(i64::from(longest_span_seconds));
    }

    /// Mark the collateral as returned: everything not slashed goes back, awards still owed
    /// stay, and what is forfeited no longer waits for callers. A second return is allowed only if the vault is no longer needed and still exists.
    pub fn mark_returned(&mut self, now: i64, has_vault: bool) -> Result<()> {
        let again = has_vault && self.is_spent();
        ensure!(
            (!self.returned || again) && self.returnable_at != 0 && now >= self.returnable_at,
            CollateralNotReturnable
        );
        ensure!(self.open_disputes == 0, DisputesOpen);
        self.returned = true;
        Ok(())
    }

    /// True if the vault is no longer needed: the collateral was returned, and nothing is owed or forfeited.
    pub fn is_spent(&self) -> bool {
        self.returned && self.owed == 0 && self.forfeited == 0
    }

    /// Count a dispute that was opened.
    pub fn open_dispute(&mut self) -> Result<()> {
        self.open_disputes = self
            .open_disputes
            .checked_add(1)
            .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
        Ok(())
    }

    /// Remove an ended dispute from the count.
    pub fn end_dispute(&mut self) -> Result<()> {
        self.open_disputes = self
            .open_disputes
            .checked_sub(1)
            .ok_or_else(|| fail(MarketplaceError::CollateralInsolvent))?;
        Ok(())
    }

    /// Take an amount for an upheld dispute. The caller gets up to the price: from the available collateral, and beyond
    /// it from what is forfeited. The other order would let a creator win forfeits back. The rest of the amount is
    /// forfeited. The amount is at most a multiple of the price, so one cheap call cannot cost a creator everything.
    pub fn slash(&mut self, amount: u64, price: u64) -> Result<Slash> {
        let slashed = amount.min(self.available());
        let from_forfeited = amount.saturating_sub(slashed);
        ensure!(
            from_forfeited == 0 || (amount <= price && from_forfeited <= self.forfeited),
            SlashAboveCollateral
        );
        ensure!(amount <= price.saturating_mul(SLASH_MULTIPLE), SlashAboveMultiple);
        let to_caller = amount.min(price);
        self.slashed = add(self.slashed, slashed)?;
        self.forfeited =
            add(subtract(self.forfeited, from_forfeited)?, slashed.saturating_sub(to_caller))?;
        Ok(Slash { to_caller, slashed })
    }

    /// A dispute was upheld: forfeits wait until every dispute about an earlier call can have been opened.
    pub fn keep_forfeits(&mut self, now: i64, longest_span_seconds: u32) {
        self.sweepable_at = now.saturating_add(i64::from(longest_span_seconds));
    }

    /// Take what is forfeited for the treasury: with no dispute open, and once none about a call before the last upheld
    /// dispute, or of a delisted agent, can follow. Returns base units.
    pub fn sweep_forfeits(&mut self, now: i64) -> Result<u64> {
        ensure!(self.forfeited > 0, NothingForfeited);
        ensure!(self.open_disputes == 0, DisputesOpen);
        let is_returnable = self.returnable_at != 0 && now >= self.returnable_at;
        ensure!(is_returnable || now >= self.sweepable_at, ForfeitsNotSweepable);
        Ok(self.take_forfeits())
    }

    /// Take what is forfeited, base units.
    pub fn take_forfeits(&mut self) -> u64 {
        std::mem::take(&mut self.forfeited)
    }

    /// An award cannot be paid yet.
    pub fn owe(&mut self, amount: u64) -> Result<()> {
        self.owed = add(self.owed, amount)?;
        Ok(())
    }

    /// An award that was owed has been paid.
    pub fn pay_owed(&mut self, amount: u64) -> Result<()> {
        self.owed = subtract(self.owed, amount)?;
        Ok(())
    }

    /// The book is consistent. Used by instructions that do not have the vault.
    pub fn book_invariant(&self) -> Result<()> {
        ensure!(
            self.slashed <= self.deposited && self.kept() <= u128::from(self.slashed),
            CollateralInsolvent
        );
        Ok(())
    }

    /// Slashed tokens that are still in the vault, base units.
    fn kept(&self) -> u128 {
        u128::from(self.owed) + u128::from(self.forfeited)
    }

    /// The book is consistent, and the vault covers the remaining collateral, the owed awards and the forfeits.
    pub fn invariant(&self, vault_amount: u64) -> Result<()> {
        self.book_invariant()?;
        let left = if self.returned { 0 } else { self.available() };
        ensure!(u128::from(vault_amount) >= u128::from(left) + self.kept(), CollateralInsolvent);
        Ok(())
    }
}

fn add(left: u64, right: u64) -> Result<u64> {
    left.checked_add(right).ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))
}

fn subtract(left: u64, right: u64) -> Result<u64> {
    left.checked_sub(right).ok_or_else(|| fail(MarketplaceError::CollateralInsolvent))
}

#[cfg(test)]
mod tests;

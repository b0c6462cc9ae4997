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
    /// Total slashed by upheld disputes, paid out or still owed.
    pub slashed: u64,
    /// Slashed but still owed, because the caller's account cannot receive it.
    pub owed: u64,
    /// Sum of the prices of executions with open disputes.
    pub disputed_amount: u64,
    /// Sum of the prices opened since `exposure_window_start`, without refunded ones, base units.
    pub exposure_opened: u64,
    /// Start of the window over which exposure is counted, unix seconds.
    pub exposure_window_start: i64,
    /// Time from which the collateral can go back, unix seconds; 0 before delisting.
    pub returnable_at: i64,
    /// Number of open disputes.
    pub open_disputes: u32,
    /// Zero. Reserved for fields of later versions.
    pub reserved: [u8; 32],
}

impl CreatorCollateral {
    /// Signer seeds of the vault, which is its own authority.
    pub fn vault_seeds(&self) -> [&[u8]; 3] {
        let bump = std::slice::from_ref(&self.vault_bump);
        [COLLATERAL_VAULT_SEED, self.listing.as_ref(), bump]
    }

    /// Collateral that can still be slashed or returned.
    pub fn available(&self) -> u64 {
        self.deposited.saturating_sub(self.slashed)
    }

    /// The listing has at least this collateral.
    pub fn require_deposit(&self, deposit: u64) -> Result<()> {
        ensure!(
            self.available() >= deposit,
            MarketplaceError::CollateralBelowTier
        );
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
        ensure!(
            multiple == 0 || u128::from(opened) <= limit,
            MarketplaceError::ExposureLimitReached
        );
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
    /// stay. A second return is allowed only if the vault is no longer needed and still exists.
    pub fn mark_returned(&mut self, now: i64, has_vault: bool) -> Result<()> {
        let again = has_vault && self.is_spent();
        ensure!(
            (!self.returned || again) && self.returnable_at != 0 && now >= self.returnable_at,
            MarketplaceError::CollateralNotReturnable
        );
        ensure!(self.open_disputes == 0, MarketplaceError::DisputesOpen);
        self.returned = true;
        Ok(())
    }

    /// True if the vault is no longer needed: the collateral was returned and nothing is owed.
    pub fn is_spent(&self) -> bool {
        self.returned && self.owed == 0
    }

    /// Count a dispute that was opened over a price.
    pub fn open_dispute(&mut self, price: u64) -> Result<()> {
        self.open_disputes = self
            .open_disputes
            .checked_add(1)
            .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))?;
        self.disputed_amount = add(self.disputed_amount, price)?;
        Ok(())
    }

    /// Remove an ended dispute from the counts.
    pub fn end_dispute(&mut self, price: u64) -> Result<()> {
        self.open_disputes = self
            .open_disputes
            .checked_sub(1)
            .ok_or_else(|| fail(MarketplaceError::CollateralInsolvent))?;
        self.disputed_amount = subtract(self.disputed_amount, price)?;
        Ok(())
    }

    /// Divide a slash between caller and treasury. `price` is that of the dispute, which no longer counts as
    /// open. The caller gets up to the price. The treasury's share must leave enough for other open disputes.
    /// The whole slash is at most a multiple of the price, so one cheap call cannot cost a creator everything.
    pub fn divide(&self, amount: u64, price: u64) -> Result<(u64, u64)> {
        ensure!(
            amount <= self.available(),
            MarketplaceError::SlashAboveCollateral
        );
        ensure!(
            amount <= price.saturating_mul(SLASH_MULTIPLE),
            MarketplaceError::SlashAboveMultiple
        );
        let to_caller = amount.min(price);
        let to_treasury = amount.saturating_sub(to_caller);
        let left = self.available().saturating_sub(amount);
        ensure!(
            to_treasury == 0 || left >= self.disputed_amount,
            MarketplaceError::OtherDisputesStarved
        );
        Ok((to_caller, to_treasury))
    }

    /// Slash an amount; `owed` of it stays in the vault to be paid later.
    pub fn slash(&mut self, amount: u64, owed: u64) -> Result<()> {
        self.slashed = add(self.slashed, amount)?;
        self.owed = add(self.owed, owed)?;
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
            self.slashed <= self.deposited
                && self.owed <= self.slashed
                && (self.open_disputes > 0 || self.disputed_amount == 0),
            MarketplaceError::CollateralInsolvent
        );
        Ok(())
    }

    /// The book is consistent, and the vault covers the remaining collateral and the owed awards.
    pub fn invariant(&self, vault_amount: u64) -> Result<()> {
        self.book_invariant()?;
        let left = if self.returned { 0 } else { self.available() };
        let liability = u128::from(left) + u128::from(self.owed);
        ensure!(
            u128::from(vault_amount) >= liability,
            MarketplaceError::CollateralInsolvent
        );
        Ok(())
    }
}

fn add(left: u64, right: u64) -> Result<u64> {
    left.checked_add(right)
        .ok_or_else(|| fail(MarketplaceError::ArithmeticOverflow))
}

fn subtract(left: u64, right: u64) -> Result<u64> {
    left.checked_sub(right)
        .ok_or_else(|| fail(MarketplaceError::CollateralInsolvent))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First 8 bytes of SHA-256("account:CreatorCollateral").
    const DISCRIMINATOR: [u8; 8] = [0xd5, 0x72, 0x03, 0x2f, 0xd7, 0x0a, 0xae, 0xc2];

    fn collateral() -> CreatorCollateral {
        CreatorCollateral {
            version: 1,
            returned: true,
            bump: 2,
            vault_bump: 3,
            listing: Pubkey::new_from_array([4; 32]),
            rent_sponsor: Pubkey::new_from_array([5; 32]),
            deposited: 100,
            slashed: 10,
            owed: 7,
            disputed_amount: 8,
            exposure_opened: 9,
            exposure_window_start: 11,
            returnable_at: 12,
            open_disputes: 13,
            reserved: [0; 32],
        }
    }

    #[test]
    fn layout() {
        let mut bytes = Vec::new();
        collateral().try_serialize(&mut bytes).unwrap();
        let mut expected = [&DISCRIMINATOR[..], &[1, 1, 2, 3], &[4; 32], &[5; 32]].concat();
        for number in [100u8, 10, 7, 8, 9, 11, 12] {
            expected.extend([number, 0, 0, 0, 0, 0, 0, 0]);
        }
        expected.extend([13, 0, 0, 0]);
        expected.extend([0; 32]);
        assert_eq!(bytes, expected);
        assert_eq!(bytes.len(), 8 + CreatorCollateral::INIT_SPACE);
    }

    #[test]
    fn the_vault_must_cover_what_is_left_and_what_is_owed() {
        let mut book = collateral();
        assert!(book.invariant(7).is_ok(), "returned");
        assert_eq!(
            book.invariant(6),
            Err(fail(MarketplaceError::CollateralInsolvent))
        );
        book.returned = false;
        assert!(book.invariant(97).is_ok());
        assert_eq!(
            book.invariant(96),
            Err(fail(MarketplaceError::CollateralInsolvent))
        );
        book.slashed = 101;
        assert_eq!(
            book.invariant(u64::MAX),
            Err(fail(MarketplaceError::CollateralInsolvent))
        );
        assert_eq!(book.available(), 0);
    }

    #[test]
    fn exposure_is_inclusive_and_its_window_half_open() {
        let mut book = collateral();
        (book.exposure_opened, book.exposure_window_start) = (0, 1_000);
        assert!(book.add_exposure(200, 0, 50, 1_000).is_ok());
        assert_eq!(book.exposure_opened, 200, "counted without a limit");
        book.exposure_opened = 0;
        assert!(book.add_exposure(180, 2, 50, 1_000).is_ok());
        assert_eq!(
            book.add_exposure(1, 2, 50, 1_049),
            Err(fail(MarketplaceError::ExposureLimitReached))
        );
        assert_eq!(book.exposure_opened, 180, "a refused price is not counted");
        assert!(book.add_exposure(1, 2, 50, 1_050).is_ok());
        assert_eq!(
            (book.exposure_opened, book.exposure_window_start),
            (1, 1_050)
        );
        assert_eq!(
            book.add_exposure(u64::MAX, 2, 50, 1_050),
            Err(fail(MarketplaceError::ArithmeticOverflow))
        );
    }

    #[test]
    fn a_refund_gives_its_exposure_back_within_its_window_only() {
        let mut book = collateral();
        (book.exposure_opened, book.exposure_window_start) = (30, 1_000);
        book.return_exposure(10, 999);
        assert_eq!(book.exposure_opened, 30, "opened in an earlier window");
        book.return_exposure(10, 1_000);
        assert_eq!(book.exposure_opened, 20);
        book.return_exposure(21, 1_001);
        assert_eq!(book.exposure_opened, 0, "never below nothing");
    }

    #[test]
    fn a_slash_is_at_most_twenty_times_its_price() {
        let mut book = collateral();
        (book.deposited, book.slashed, book.disputed_amount) = (1_000, 0, 0);
        assert_eq!(book.divide(100, 5), Ok((5, 95)));
        assert_eq!(
            book.divide(101, 5),
            Err(fail(MarketplaceError::SlashAboveMultiple))
        );
        assert_eq!(book.divide(1_000, u64::MAX), Ok((1_000, 0)));
    }

    #[test]
    fn the_caller_comes_first_and_other_disputes_are_not_starved() {
        use MarketplaceError::*;
        let mut book = collateral();
        (book.deposited, book.slashed, book.disputed_amount) = (100, 10, 30);
        assert_eq!(book.divide(90, 50), Err(fail(OtherDisputesStarved)));
        assert_eq!(book.divide(91, 91), Err(fail(SlashAboveCollateral)));
        assert_eq!(
            book.divide(90, 90),
            Ok((90, 0)),
            "the caller's part may take all"
        );
        assert_eq!(book.divide(60, 50), Ok((50, 10)));
        assert_eq!(book.divide(61, 50), Err(fail(OtherDisputesStarved)));
        assert_eq!(book.divide(20, 50), Ok((20, 0)));
        assert_eq!(book.divide(0, 50), Ok((0, 0)));
    }

    #[test]
    fn it_goes_back_once_after_its_moment_and_without_open_disputes() {
        use MarketplaceError::*;
        let mut book = collateral();
        (book.returned, book.open_disputes, book.returnable_at) = (false, 0, 0);
        assert_eq!(
            book.mark_returned(i64::MAX, true),
            Err(fail(CollateralNotReturnable))
        );
        book.delist(100, 50);
        assert_eq!(
            book.mark_returned(149, true),
            Err(fail(CollateralNotReturnable))
        );
        book.open_disputes = 1;
        assert_eq!(book.mark_returned(150, true), Err(fail(DisputesOpen)));
        book.open_disputes = 0;
        assert!(book.mark_returned(150, true).is_ok() && book.returned);
        for (owed, has_vault) in [(7, true), (7, false), (0, false)] {
            book.owed = owed;
            assert_eq!(
                book.mark_returned(150, has_vault),
                Err(fail(CollateralNotReturnable))
            );
        }
        assert!(book.mark_returned(150, true).is_ok(), "a vault left over");
    }

    #[test]
    fn disputes_are_counted_and_the_book_must_agree_with_itself() {
        use MarketplaceError::*;
        let mut book = collateral();
        (book.open_disputes, book.disputed_amount) = (0, 0);
        assert!(book.open_dispute(5).is_ok() && book.open_dispute(6).is_ok());
        assert!(book.end_dispute(5).is_ok() && book.book_invariant().is_ok());
        assert_eq!((book.open_disputes, book.disputed_amount), (1, 6));
        assert_eq!(book.end_dispute(7), Err(fail(CollateralInsolvent)));
        (book.open_disputes, book.disputed_amount) = (0, 1);
        assert_eq!(book.book_invariant(), Err(fail(CollateralInsolvent)));
        book.disputed_amount = 0;
        assert!(book.slash(3, 2).is_ok() && book.pay_owed(9).is_ok());
        assert_eq!(book.pay_owed(1), Err(fail(CollateralInsolvent)));
        book.owed = book.slashed + 1;
        assert_eq!(book.book_invariant(), Err(fail(CollateralInsolvent)));
        book.open_disputes = u32::MAX;
        assert_eq!(book.open_dispute(1), Err(fail(ArithmeticOverflow)));
        book.deposited = u64::MAX;
        assert_eq!(book.top_up(1), Err(fail(ArithmeticOverflow)));
    }
}

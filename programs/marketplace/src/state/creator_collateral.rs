//! A listing's deposit, from which upheld disputes are paid. Its vault is a token account of its own.

use anchor_lang::prelude::*;

use crate::errors::MarketplaceError;

/// Book-keeping of one collateral vault, all amounts in base units of USDC.
#[account]
#[derive(InitSpace, Debug)]
pub struct CreatorCollateral {
    /// Layout version, 1.
    pub version: u8,
    /// True once everything went back to the creator and the vault was closed.
    pub returned: bool,
    /// Bump of this address.
    pub bump: u8,
    /// Bump of the vault.
    pub vault_bump: u8,
    /// The listing this collateral stands for.
    pub listing: Pubkey,
    /// Ever deposited by the creator.
    pub deposited: u64,
    /// Ever taken by upheld disputes, whether paid out or still owed.
    pub slashed: u64,
    /// Slashed, but waiting for a caller's account that can receive it.
    pub owed: u64,
    /// Prices of the executions under open disputes.
    pub disputed_amount: u64,
    /// Prices opened since `exposure_window_start`.
    pub exposure_opened: u64,
    /// Start of the window over which exposure is counted, unix seconds.
    pub exposure_window_start: i64,
    /// When the deposit may go back, unix seconds; 0 before delisting.
    pub returnable_at: i64,
    /// How many disputes wait for an outcome.
    pub open_disputes: u32,
}

impl CreatorCollateral {
    /// What is left to slash or return.
    pub fn available(&self) -> u64 {
        self.deposited.saturating_sub(self.slashed)
    }

    /// The listing holds at least this deposit.
    pub fn require_deposit(&self, deposit: u64) -> Result<()> {
        require!(
            self.available() >= deposit,
            MarketplaceError::CollateralBelowTier
        );
        Ok(())
    }

    /// Count a price towards the exposure limit. A multiple of 0 means no limit and counts nothing.
    pub fn add_exposure(
        &mut self,
        price: u64,
        multiple: u32,
        window_seconds: u32,
        now: i64,
    ) -> Result<()> {
        if multiple == 0 {
            return Ok(());
        }
        self.book_invariant()?;
        if now.saturating_sub(self.exposure_window_start) >= i64::from(window_seconds) {
            self.exposure_window_start = now;
            self.exposure_opened = 0;
        }
        let opened = self
            .exposure_opened
            .checked_add(price)
            .ok_or(MarketplaceError::ArithmeticOverflow)?;
        let limit = u128::from(self.available()) * u128::from(multiple);
        require!(
            u128::from(opened) <= limit,
            MarketplaceError::ExposureLimitReached
        );
        self.exposure_opened = opened;
        Ok(())
    }

    /// Slashing never exceeds the deposit; what an open, which does not name the vault, can check.
    pub fn book_invariant(&self) -> Result<()> {
        require!(
            self.slashed <= self.deposited,
            MarketplaceError::CollateralInsolvent
        );
        Ok(())
    }

    /// The book is sound, and the vault covers what is left and what is owed.
    pub fn invariant(&self, vault_amount: u64) -> Result<()> {
        self.book_invariant()?;
        let liability = u128::from(self.available()) + u128::from(self.owed);
        require!(
            self.returned || u128::from(vault_amount) >= liability,
            MarketplaceError::CollateralInsolvent
        );
        Ok(())
    }
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
            deposited: 100,
            slashed: 10,
            owed: 7,
            disputed_amount: 8,
            exposure_opened: 9,
            exposure_window_start: 11,
            returnable_at: 12,
            open_disputes: 13,
        }
    }

    #[test]
    fn layout() {
        let mut bytes = Vec::new();
        collateral().try_serialize(&mut bytes).unwrap();
        let mut expected = [&DISCRIMINATOR[..], &[1, 1, 2, 3], &[4; 32]].concat();
        for number in [100u8, 10, 7, 8, 9, 11, 12] {
            expected.extend([number, 0, 0, 0, 0, 0, 0, 0]);
        }
        expected.extend([13, 0, 0, 0]);
        assert_eq!(bytes, expected);
        assert_eq!(bytes.len(), 8 + CreatorCollateral::INIT_SPACE);
    }

    #[test]
    fn the_vault_must_cover_what_is_left_and_what_is_owed() {
        let mut book = collateral();
        assert!(book.invariant(0).is_ok(), "returned");
        book.returned = false;
        assert!(book.invariant(97).is_ok());
        assert_eq!(
            book.invariant(96),
            Err(error!(MarketplaceError::CollateralInsolvent))
        );
        book.slashed = 101;
        assert_eq!(
            book.invariant(u64::MAX),
            Err(error!(MarketplaceError::CollateralInsolvent))
        );
        assert_eq!(book.available(), 0);
    }

    #[test]
    fn exposure_is_inclusive_and_its_window_half_open() {
        let mut book = collateral();
        (book.exposure_opened, book.exposure_window_start) = (0, 1_000);
        assert!(book.add_exposure(u64::MAX, 0, 50, 1_000).is_ok());
        assert_eq!(book.exposure_opened, 0, "no limit counts nothing");
        assert!(book.add_exposure(180, 2, 50, 1_000).is_ok());
        assert_eq!(
            book.add_exposure(1, 2, 50, 1_049),
            Err(error!(MarketplaceError::ExposureLimitReached))
        );
        assert_eq!(book.exposure_opened, 180, "a refused price is not counted");
        assert!(book.add_exposure(1, 2, 50, 1_050).is_ok());
        assert_eq!(
            (book.exposure_opened, book.exposure_window_start),
            (1, 1_050)
        );
        assert_eq!(
            book.add_exposure(u64::MAX, 2, 50, 1_050),
            Err(error!(MarketplaceError::ArithmeticOverflow))
        );
    }
}

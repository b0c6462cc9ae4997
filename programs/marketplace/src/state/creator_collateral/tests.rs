use super::*;
use crate::errors::MarketplaceError::*;

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
        forfeited: 2,
        exposure_opened: 9,
        exposure_window_start: 11,
        returnable_at: 12,
        sweepable_at: 13,
        open_disputes: 14,
        reserved: [0; 24],
    }
}

#[test]
fn the_vault_must_cover_what_is_left_owed_and_forfeited() {
    let mut book = collateral();
    assert!(book.invariant(9).is_ok(), "returned");
    assert_eq!(book.invariant(8), Err(fail(CollateralInsolvent)));
    book.returned = false;
    assert!(book.invariant(99).is_ok());
    assert_eq!(book.invariant(98), Err(fail(CollateralInsolvent)));
    book.slashed = 101;
    assert_eq!(book.invariant(u64::MAX), Err(fail(CollateralInsolvent)));
    assert_eq!(book.available(), 0);
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
fn the_bound_of_a_slash_cannot_overflow() {
    assert_eq!(collateral().slash(90, u64::MAX), Ok(Slash { to_caller: 90, slashed: 90 }));
}

#[test]
fn disputes_are_counted_and_the_book_must_agree_with_itself() {
    let mut book = collateral();
    book.open_disputes = 0;
    assert!(book.open_dispute().is_ok() && book.end_dispute().is_ok());
    assert_eq!(book.end_dispute(), Err(fail(CollateralInsolvent)));
    assert!(book.owe(1).is_ok() && book.book_invariant().is_ok());
    assert!(book.owe(1).is_ok());
    assert_eq!(book.book_invariant(), Err(fail(CollateralInsolvent)));
    assert!(book.pay_owed(9).is_ok());
    assert_eq!(book.pay_owed(1), Err(fail(CollateralInsolvent)));
    book.open_disputes = u32::MAX;
    assert_eq!(book.open_dispute(), Err(fail(ArithmeticOverflow)));
}

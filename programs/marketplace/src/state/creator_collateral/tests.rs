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
fn layout() {
    let mut bytes = Vec::new();
    collateral().try_serialize(&mut bytes).unwrap();
    let mut expected = [&DISCRIMINATOR[..], &[1, 1, 2, 3], &[4; 32], &[5; 32]].concat();
    for number in [100u8, 10, 7, 2, 9, 11, 12, 13] {
        expected.extend([number, 0, 0, 0, 0, 0, 0, 0]);
    }
    expected.extend([14, 0, 0, 0]);
    expected.extend([0; 24]);
    assert_eq!(bytes, expected);
    assert_eq!(bytes.len(), 8 + CreatorCollateral::INIT_SPACE);
}

#[test]
fn the_vault_must_cover_what_is_left_owed_and_forfeited() {
    let mut book = collateral();
    assert!(book.invariant(9).is_ok(), "returned");
    assert_eq!(
        book.invariant(8),
        Err(fail(MarketplaceError::CollateralInsolvent))
    );
    book.returned = false;
    assert!(book.invariant(99).is_ok());
    assert_eq!(
        book.invariant(98),
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

fn slashed(to_caller: u64, slashed: u64) -> Result<Slash> {
    Ok(Slash { to_caller, slashed })
}

#[test]
fn a_slash_is_at_most_twenty_times_its_price() {
    let mut book = collateral();
    (book.deposited, book.slashed, book.forfeited) = (1_000, 0, 0);
    assert_eq!(
        book.slash(101, 5),
        Err(fail(MarketplaceError::SlashAboveMultiple))
    );
    assert_eq!(book.slash(100, 5), slashed(5, 100));
    assert_eq!((book.slashed, book.forfeited), (100, 95));
    assert_eq!(book.slash(900, u64::MAX), slashed(900, 900));
}

#[test]
fn forfeits_pay_later_callers_after_what_is_available_and_never_more_than_a_price() {
    use MarketplaceError::*;
    let mut book = collateral();
    (book.deposited, book.slashed, book.owed, book.forfeited) = (100, 10, 0, 0);
    assert_eq!(book.slash(60, 50), slashed(50, 60));
    assert_eq!((book.available(), book.forfeited), (30, 10));
    assert_eq!(book.slash(31, 30), Err(fail(SlashAboveCollateral)));
    assert_eq!(book.slash(41, 41), Err(fail(SlashAboveCollateral)));
    assert_eq!((book.available(), book.forfeited), (30, 10), "refused");
    assert_eq!(book.slash(35, 40), slashed(35, 30));
    assert_eq!((book.available(), book.forfeited), (0, 5));
    assert_eq!(book.slash(0, 40), slashed(0, 0));
    assert_eq!(book.slash(5, 40), slashed(5, 0));
    assert_eq!((book.slashed, book.forfeited), (100, 0));
}

#[test]
fn forfeits_are_swept_once_without_open_disputes_and_when_no_earlier_call_can_be_disputed() {
    use MarketplaceError::*;
    let mut book = collateral();
    (book.returnable_at, book.forfeited) = (0, 2);
    book.keep_forfeits(100, 50);
    assert_eq!(book.sweep_forfeits(150), Err(fail(DisputesOpen)));
    book.open_disputes = 0;
    assert_eq!(book.sweep_forfeits(149), Err(fail(ForfeitsNotSweepable)));
    book.returnable_at = 140;
    assert_eq!(book.sweep_forfeits(139), Err(fail(ForfeitsNotSweepable)));
    assert_eq!(book.clone().sweep_forfeits(140), Ok(2), "delisted");
    book.returnable_at = 0;
    assert_eq!(book.sweep_forfeits(150), Ok(2));
    assert_eq!(book.sweep_forfeits(150), Err(fail(NothingForfeited)));
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
    for (owed, forfeited, has_vault) in [(7, 0, true), (0, 7, true), (0, 0, false)] {
        (book.owed, book.forfeited) = (owed, forfeited);
        assert_eq!(
            book.mark_returned(150, has_vault),
            Err(fail(CollateralNotReturnable))
        );
    }
    (book.owed, book.forfeited) = (0, 0);
    assert!(book.mark_returned(150, true).is_ok(), "a vault left over");
}

#[test]
fn disputes_are_counted_and_the_book_must_agree_with_itself() {
    use MarketplaceError::*;
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

use super::*;
use crate::errors::MarketplaceError::*;

fn record() -> ExecutionRecord {
    ExecutionRecord {
        version: 1,
        status: ExecutionStatus::Open,
        bump: 2,
        escrow_bump: 3,
        spender_bump: 15,
        execution_id: [4; 16],
        listing: Pubkey::new_from_array([5; 32]),
        caller: Pubkey::new_from_array([6; 32]),
        signing_key: Pubkey::new_from_array([7; 32]),
        key_id: [8; 16],
        rent_sponsor: Pubkey::new_from_array([9; 32]),
        price: 1_234_567,
        request_hash: [10; 32],
        result_hash: [0; 32],
        opened_at: 100,
        deadline: 160,
        refund_at: 760,
        settled_at: 0,
        dispute_window_seconds: 259_200,
        listing_version: 11,
        execution_time_ms: 0,
        gas_lamports: 14,
        fee_bps: 100,
    }
}

#[test]
fn the_head_is_the_first_part() {
    let head = record().head().try_to_vec().unwrap();
    assert_eq!(head.len(), RecordHead::INIT_SPACE);
    assert!(record().try_to_vec().unwrap().starts_with(&head));
}

#[test]
fn only_these_moves() {
    use ExecutionStatus::*;
    let all = [Open, Completed, Refunded];
    let allowed = [(Open, Completed), (Open, Refunded)];
    for from in all {
        for to in all {
            assert_eq!(from.can_become(to), allowed.contains(&(from, to)));
        }
    }
}

#[test]
fn the_fee_is_rounded_down_and_never_above_the_price() {
    let fee = |price, fee_bps| {
        let mut record = record();
        (record.price, record.fee_bps) = (price, fee_bps);
        record.fee()
    };
    assert_eq!(fee(1_234_567, 100), 12_345);
    assert_eq!(fee(99, 100), 0);
    assert_eq!(fee(100, 100), 1);
    assert_eq!(fee(u64::MAX, 100), u64::MAX / 100);
    assert_eq!(fee(u64::MAX, 10_000), u64::MAX);
    assert_eq!(fee(u64::MAX, u16::MAX), u64::MAX);
    assert_eq!(fee(5, 0), 0);
}

#[test]
fn the_id_is_a_uuid_of_version_8_that_only_caller_and_nonce_make() {
    // Computed independently of this code, with sha256sum over the domain, 32 bytes of 1 and 16 bytes of 2.
    const EXPECTED: [u8; 16] = [
        0xc1, 0xdc, 0x75, 0x6c, 0xff, 0x4d, 0x8d, 0x5c, 0x91, 0xa6, 0x11, 0xec, 0x2f, 0x4e, 0x3a,
        0x8b,
    ];
    let caller = Pubkey::new_from_array([1; 32]);
    assert_eq!(ExecutionRecord::derive_id(&caller, &[2; 16]), EXPECTED);
    assert_ne!(ExecutionRecord::derive_id(&caller, &[3; 16]), EXPECTED);
    assert_ne!(ExecutionRecord::derive_id(&Pubkey::default(), &[2; 16]), EXPECTED);
}

#[test]
fn an_open_record_is_covered_and_an_ended_one_empty() {
    let open = record();
    assert!(open.invariant(open.price).is_ok() && open.invariant(open.price + 1).is_ok());
    assert!(open.invariant(open.price - 1).is_err());

    let mut settled = record();
    assert_eq!(settled.settle([1; 32], 5, 760), Err(fail(SettleWindowClosed)));
    settled = record();
    assert!(settled.settle([1; 32], 5, 759).is_ok());
    assert!(settled.invariant(0).is_ok() && settled.invariant(1).is_err());
    assert_eq!(settled.refund(760), Err(fail(ExecutionNotOpen)));

    let mut refunded = record();
    assert!(refunded.refund(760).is_ok() && refunded.invariant(0).is_ok());
    refunded.result_hash = [1; 32];
    assert!(refunded.invariant(0).is_err());

    let mut backwards = record();
    backwards.deadline = 100;
    assert!(backwards.invariant(backwards.price).is_err());
}

/// The proof at `require_fresh_nonce`, for the earliest open that a nonce allows.
#[test]
fn a_record_leaves_its_address_only_when_its_nonce_is_refused_forever() {
    let (mut nonce, opened_at) = ([0u8; 16], 20_000 * 1_800);
    nonce[..4].copy_from_slice(&20_000u32.to_le_bytes());
    let is_fresh = |now| ExecutionRecord::require_fresh_nonce(&nonce, now).is_ok();
    let mut refunded = record();
    refunded.opened_at = opened_at;
    assert!(refunded.refund(opened_at).is_ok());
    let mut paid = record();
    (paid.status, paid.opened_at, paid.settled_at) =
        (ExecutionStatus::Completed, opened_at, opened_at);
    let leaves =
        |now| (refunded.require_closable(now).is_ok(), paid.is_archivable(RECORD_SECONDS_MIN, now));
    assert!(!is_fresh(opened_at - 1) && is_fresh(opened_at));
    assert!(is_fresh(opened_at + 3_599));
    assert_eq!(leaves(opened_at + 3_599), (false, false));
    assert!(!is_fresh(opened_at + 3_600));
    assert_eq!(leaves(opened_at + 3_600), (true, true));
}

#[test]
fn a_paid_record_is_archived_record_seconds_after_its_end_whatever_its_dispute_window() {
    use ExecutionStatus::*;
    let mut record = record();
    (record.status, record.settled_at) = (Completed, 200);
    for window in [1, 259_200, 2_592_000] {
        record.dispute_window_seconds = window;
        for seconds in [RECORD_SECONDS_MIN, RECORD_SECONDS_MAX] {
            let ripe_at = 200 + i64::from(seconds);
            assert!(record.is_archivable(seconds, ripe_at));
            assert!(!record.is_archivable(seconds, ripe_at - 1));
        }
    }
    for status in [Open, Refunded] {
        record.status = status;
        assert!(!record.is_archivable(RECORD_SECONDS_MIN, i64::MAX), "{status:?}");
    }
}

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

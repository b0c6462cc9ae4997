use super::*;
use crate::errors::MarketplaceError::*;

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
fn spend_above_a_limit_is_unsound() {
    for (period, total) in [(61, 61), (0, 151), (2, 1)] {
        let mut grant = grant();
        (grant.period_spent, grant.total_spent) = (period, total);
        assert_eq!(grant.invariant(), Err(fail(GrantOverspent)));
    }
}

#[test]
fn another_period_length_forgets_no_spend() {
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
    let longer = GrantLimits { period_seconds: 50, ..shorter };
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

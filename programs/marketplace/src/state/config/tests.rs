use super::*;
use crate::errors::MarketplaceError::*;

fn authorities(fills: &[u8]) -> [Pubkey; 8] {
    let mut all = [Pubkey::default(); 8];
    for (slot, fill) in all.iter_mut().zip(fills) {
        *slot = Pubkey::new_from_array([*fill; 32]);
    }
    all
}

fn config() -> Config {
    let tier = |max_price, deposit| CollateralTier { max_price, deposit };
    Config {
        version: 1,
        admin_paused: false,
        guardian_paused: true,
        fee_bps: 100,
        tier_count: 2,
        relay_authority_count: 2,
        admin: Pubkey::new_from_array([4; 32]),
        guardian: Pubkey::new_from_array([9; 32]),
        usdc_mint: Pubkey::new_from_array([7; 32]),
        min_price: 10_000,
        dispute_bond_lamports: 9,
        dispute_window_seconds: 259_200,
        refund_grace_seconds: 600,
        max_timeout_seconds: 3_600,
        record_seconds: 3_601,
        longest_span_seconds: 263_400,
        exposure_multiple: 10,
        admin_delay_seconds: 86_400,
        changes_valid_from: 20,
        admin_since: 10,
        tiers: [tier(10_000, 11), tier(20_000, 12), tier(0, 0), tier(0, 0)],
        relay_authorities: authorities(&[6, 8]),
        reserved: [0; 64],
    }
}

#[test]
fn relay_authorities_are_one_to_eight_distinct_keys() {
    let mut config = config();
    let key = |fill: u8| Pubkey::new_from_array([fill; 32]);
    assert!(config.is_relay_authority(&key(6)) && config.is_relay_authority(&key(8)));
    assert!(!config.is_relay_authority(&key(7)) && !config.is_relay_authority(&key(0)));
    let eight: Vec<Pubkey> = (1..=8).map(key).collect();
    assert!(config.set_relay_authorities(&eight).is_ok());
    assert_eq!(config.used_relay_authorities(), eight);
    assert!(config.set_relay_authorities(&[key(3)]).is_ok());
    assert_eq!(config.used_relay_authorities(), [key(3)]);
    assert!(config.require_relay_authority(&key(3)).is_ok());
    assert_eq!(config.require_relay_authority(&key(1)), Err(fail(NotRelayAuthority)));
    let nine: Vec<Pubkey> = (1..=9).map(key).collect();
    for refused in [&[][..], &[key(0)], &[key(1), key(2), key(1)], &nine] {
        assert_eq!(config.set_relay_authorities(refused), Err(fail(InvalidRelayAuthorities)));
        assert_eq!(config.used_relay_authorities(), [key(3)], "nothing changed");
    }
}

#[test]
fn relay_authorities_are_added_beside_the_others_and_removed_to_the_last() {
    let mut config = config();
    let key = |fill: u8| Pubkey::new_from_array([fill; 32]);
    assert!(config.add_relay_authorities(&[key(8), key(3)]).is_ok());
    assert_eq!(config.used_relay_authorities(), [key(6), key(8), key(3)]);
    for fill in [8, 6, 3] {
        let now = 100 + i64::from(fill);
        assert!(config.remove_relay_authority(&key(fill), now).is_ok());
        assert_eq!(
            config.remove_relay_authority(&key(fill), 200),
            Err(fail(UnknownRelayAuthority))
        );
        assert_eq!(config.changes_valid_from, now);
    }
    assert_eq!(config.relay_authorities, [Pubkey::default(); 8]);
    assert!(config.add_relay_authorities(&[key(1)]).is_ok());
    assert_eq!(config.used_relay_authorities(), [key(1)]);
}

#[test]
fn what_takes_protection_away_widens() {
    type Edit = fn(&mut Config);
    let widening: [Edit; 12] = [
        |it| it.admin_delay_seconds += 1,
        |it| it.guardian_paused = false,
        |it| it.fee_bps = 99,
        |it| it.min_price = 10_001,
        |it| it.dispute_bond_lamports = 8,
        |it| it.dispute_bond_lamports = 10,
        |it| it.tiers[1].deposit = 13,
        |it| it.dispute_window_seconds -= 1,
        |it| it.record_seconds -= 1,
        |it| it.record_seconds += 1,
        |it| it.exposure_multiple = 11,
        |it| it.exposure_multiple = 0,
    ];
    let narrowing: [Edit; 5] = [
        |it| it.admin_paused = false,
        |it| it.dispute_window_seconds += 1,
        |it| it.exposure_multiple = 9,
        |it| it.refund_grace_seconds = 300,
        |it| it.max_timeout_seconds = 60,
    ];
    for (edits, is_widened) in [(&widening[..], true), (&narrowing[..], false)] {
        for edit in edits {
            let mut after = config();
            edit(&mut after);
            assert_eq!(config().is_widened_by(&after), is_widened);
        }
    }
    let mut unlimited = config();
    unlimited.exposure_multiple = 0;
    assert!(!unlimited.is_widened_by(&config()), "a first limit narrows");
}

#[test]
fn tiers_that_are_more_than_there_is_room_for_are_refused() {
    let mut config = config();
    config.tier_count = 5;
    assert_eq!(config.invariant(), Err(fail(InvalidTiers)));
}

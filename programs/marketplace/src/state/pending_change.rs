//! A proposed change that everybody can see before it takes effect. Created by the admin, closed when it is applied
//! or cancelled. Its rent goes back to the account that paid it.

use anchor_lang::prelude::*;

use crate::constants::CHANGE_SECONDS;
use crate::errors::MarketplaceError;
use crate::state::{Config, SettingsChange};

/// The values that a proposed change can set. Absent or empty ones stay as they are.
#[derive(AnchorSerialize, AnchorDeserialize, InitSpace, Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigChange {
    /// Settings.
    pub settings: SettingsChange,
    /// Relay authorities to add to the current ones.
    #[max_len(8)]
    pub added_relay_authorities: Vec<Pubkey>,
    /// The new guardian; the zero key for none.
    pub guardian: Option<Pubkey>,
    /// The key that can become admin by accepting; the zero key for none.
    pub pending_admin: Option<Pubkey>,
}

/// A pending change of the `Config`. Several can be pending.
#[account]
#[derive(InitSpace, Debug)]
pub struct PendingChange {
    /// Layout version, 1.
    pub version: u8,
    /// Bump of this address.
    pub bump: u8,
    /// Chosen by the admin; part of the address.
    pub change_id: u64,
    /// The account that paid the rent. It gets the rent back.
    pub rent_sponsor: Pubkey,
    /// When it was proposed, unix seconds.
    pub proposed_at: i64,
    /// Time from which anyone can apply it, unix seconds.
    pub due_at: i64,
    /// The new values.
    pub details: ConfigChange,
}

impl PendingChange {
    /// It can be applied from `due_at` on, for `CHANGE_SECONDS`.
    pub fn require_due(&self, now: i64) -> Result<()> {
        ensure!(now >= self.due_at, MarketplaceError::ChangeNotDue);
        let expires_at = self.due_at.saturating_add(CHANGE_SECONDS);
        ensure!(now < expires_at, MarketplaceError::ChangeExpired);
        Ok(())
    }
}

impl Config {
    /// Apply a change, and check all settings.
    pub fn apply(&mut self, change: &ConfigChange) -> Result<()> {
        self.change_settings(&change.settings)?;
        self.add_relay_authorities(&change.added_relay_authorities)?;
        self.guardian = change.guardian.unwrap_or(self.guardian);
        self.pending_admin = change.pending_admin.unwrap_or(self.pending_admin);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::CollateralTier;

    /// First 8 bytes of SHA-256("account:PendingChange").
    const DISCRIMINATOR: [u8; 8] = [0xe8, 0xb7, 0xb0, 0xc4, 0x0f, 0xc3, 0x73, 0x93];

    #[test]
    fn layout() {
        let change = PendingChange {
            version: 1,
            bump: 254,
            change_id: 3,
            rent_sponsor: Pubkey::new_from_array([4; 32]),
            proposed_at: 5,
            due_at: 6,
            details: ConfigChange {
                settings: SettingsChange {
                    fee_bps: Some(7),
                    tiers: Some(vec![CollateralTier::default(); 4]),
                    ..SettingsChange::default()
                },
                added_relay_authorities: vec![Pubkey::new_from_array([8; 32])],
                guardian: None,
                pending_admin: Some(Pubkey::new_from_array([9; 32])),
            },
        };
        let mut bytes = Vec::new();
        change.try_serialize(&mut bytes).unwrap();
        let mut expected = [&DISCRIMINATOR[..], &[1, 254], &3u64.to_le_bytes(), &[4; 32]].concat();
        for time in [5i64, 6] {
            expected.extend(time.to_le_bytes());
        }
        expected.extend([0, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0]);
        expected.extend([0; 64]);
        expected.extend([1, 0, 0, 0]);
        expected.extend([8; 32]);
        expected.extend([0, 1]);
        expected.extend([9; 32]);
        assert_eq!(bytes, expected);
    }
}

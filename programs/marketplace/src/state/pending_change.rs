//! A change that widens what a key can do, while everybody can see it come. Made by the admin, closed when it is applied
//! or dropped; its rent goes back to who paid it.

use anchor_lang::prelude::*;

use crate::errors::MarketplaceError;
use crate::state::{Config, SettingsChange};

/// All that can wait; what is absent or empty stays as it is.
#[derive(AnchorSerialize, AnchorDeserialize, InitSpace, Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigChange {
    /// Settings.
    pub settings: SettingsChange,
    /// Relay authorities that are put beside the present ones.
    #[max_len(8)]
    pub added_relay_authorities: Vec<Pubkey>,
    /// The next guardian; the zero key for nobody.
    pub guardian: Option<Pubkey>,
    /// Who may become admin by accepting; the zero key for nobody.
    pub pending_admin: Option<Pubkey>,
}

/// A change of the `Config` that waits. Several can.
#[account]
#[derive(InitSpace, Debug)]
pub struct PendingChange {
    /// Layout version, 1.
    pub version: u8,
    /// Bump of this address.
    pub bump: u8,
    /// Chosen by the admin; in the address.
    pub change_id: u64,
    /// Who paid the rent and gets it back.
    pub rent_sponsor: Pubkey,
    /// When it was proposed, unix seconds.
    pub proposed_at: i64,
    /// From when anyone can apply it, unix seconds.
    pub due_at: i64,
    /// What it changes.
    pub details: ConfigChange,
}

impl PendingChange {
    /// It can be applied from `due_at` on.
    pub fn require_due(&self, now: i64) -> Result<()> {
        ensure!(now >= self.due_at, MarketplaceError::ChangeNotDue);
        Ok(())
    }
}

impl Config {
    /// Take a change that has waited, and check all.
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

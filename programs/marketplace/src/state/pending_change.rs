//! A proposed change that everybody can see before it takes effect. Created by the admin, closed when it is applied,
//! accepted or cancelled. Its rent goes back to the account that paid it.
//!
//! A change has one subject. The rules for each let admin and guardian protect the marketplace from each other's thief:
//!
//! - Settings: the admin or the guardian cancels them, one by one or all at once.
//! - The admin: waits like settings, and only the guardian cancels it. A thief of the admin's key cannot stop the
//!   owner's replacement.
//! - The guardian: waits 7 days longer, and only the admin cancels it. A thief of the guardian's key cannot stop its
//!   replacement. The owner of a stolen admin key can cancel the thief's, because owner and thief have the same key.

use anchor_lang::prelude::*;

use crate::constants::{CHANGE_SECONDS, GUARDIAN_CHANGE_SECONDS};
use crate::errors::MarketplaceError;
use crate::guard::fail;
use crate::state::{Config, SettingsChange};

/// The values that a proposed change can set. Absent or empty ones stay as they are. A change of admin or guardian
/// holds nothing else.
#[derive(AnchorSerialize, AnchorDeserialize, InitSpace, Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigChange {
    /// Settings.
    pub settings: SettingsChange,
    /// Relay authorities to add to the current ones.
    #[max_len(8)]
    pub added_relay_authorities: Vec<Pubkey>,
    /// The new guardian; the zero key for none.
    pub guardian: Option<Pubkey>,
    /// The key that becomes admin by accepting.
    pub admin: Option<Pubkey>,
}

/// The subject of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Settings and relay authorities.
    Settings,
    /// Who is admin.
    Admin,
    /// Who is guardian.
    Guardian,
}

impl ConfigChange {
    /// The only subject of this change. Fails if it has several.
    pub fn subject(&self) -> Result<Subject> {
        let has_settings =
            self.settings != SettingsChange::default() || !self.added_relay_authorities.is_empty();
        match (has_settings, self.admin, self.guardian) {
            (_, None, None) => Ok(Subject::Settings),
            (false, Some(_), None) => Ok(Subject::Admin),
            (false, None, Some(_)) => Ok(Subject::Guardian),
            _ => Err(fail(MarketplaceError::MixedChange)),
        }
    }
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
    /// Time from which anyone can apply it, or the next admin accept it, unix seconds.
    pub due_at: i64,
    /// The new values.
    pub details: ConfigChange,
}

impl PendingChange {
    /// It was not cancelled, and it is due, for `CHANGE_SECONDS`.
    pub fn require_applicable(&self, config: &Config, now: i64) -> Result<()> {
        config.require_valid(self.details.subject()?, self.proposed_at)?;
        ensure!(now >= self.due_at, ChangeNotDue);
        ensure!(!self.has_expired(now), ChangeExpired);
        Ok(())
    }

    /// This key can cancel it. Anyone can if it can never be applied any more.
    pub fn require_cancellable(&self, config: &Config, key: &Pubkey, now: i64) -> Result<()> {
        let subject = self.details.subject()?;
        let is_over =
            self.has_expired(now) || config.require_valid(subject, self.proposed_at).is_err();
        if is_over {
            return Ok(());
        }
        config.require_canceller(subject, key)
    }

    fn has_expired(&self, now: i64) -> bool {
        now >= self.due_at.saturating_add(CHANGE_SECONDS)
    }
}

impl Config {
    /// Seconds from the proposal of a change until it is due.
    pub fn wait_seconds(&self, subject: Subject) -> i64 {
        let delay = i64::from(self.admin_delay_seconds);
        match subject {
            Subject::Guardian if delay > 0 => delay.saturating_add(GUARDIAN_CHANGE_SECONDS),
            _ => delay,
        }
    }

    /// A change proposed at this time was not cancelled together with all others.
    pub fn require_valid(&self, subject: Subject, proposed_at: i64) -> Result<()> {
        let cancelled_until = match subject {
            Subject::Settings => self.changes_valid_from,
            Subject::Admin | Subject::Guardian => self.admin_since,
        };
        ensure!(proposed_at > cancelled_until, ChangeInvalidated);
        Ok(())
    }

    /// This key can cancel a change of this subject. If there is no guardian, its part falls to the admin.
    fn require_canceller(&self, subject: Subject, key: &Pubkey) -> Result<()> {
        let has_guardian = self.guardian != Pubkey::default();
        match subject {
            Subject::Settings => self.require_guardian_or_admin(key),
            Subject::Admin if has_guardian => {
                ensure!(*key == self.guardian, NotGuardian);
                Ok(())
            }
            Subject::Admin | Subject::Guardian => {
                ensure!(*key == self.admin, NotAdmin);
                Ok(())
            }
        }
    }

    /// Apply a change of settings or guardian, and check all settings.
    pub fn apply(&mut self, change: &ConfigChange) -> Result<()> {
        ensure!(change.admin.is_none(), AdminMustAccept);
        self.change_settings(&change.settings)?;
        self.add_relay_authorities(&change.added_relay_authorities)?;
        self.guardian = change.guardian.unwrap_or(self.guardian);
        Ok(())
    }

    /// Make this key the admin. All pending changes of the admin before it are cancelled.
    pub fn accept_admin(&mut self, admin: Pubkey, now: i64) {
        self.admin = admin;
        self.admin_since = now;
        self.changes_valid_from = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::MarketplaceError::*;

    #[test]
    fn a_change_has_one_subject() {
        let key = Some(Pubkey::new_from_array([1; 32]));
        let settings = SettingsChange { lift_guardian_pause: true, ..SettingsChange::default() };
        let nothing = ConfigChange::default();
        let admin = ConfigChange { admin: key, ..nothing.clone() };
        let guardian = ConfigChange { guardian: key, ..nothing.clone() };
        assert_eq!(nothing.subject(), Ok(Subject::Settings));
        assert_eq!(admin.subject(), Ok(Subject::Admin));
        assert_eq!(guardian.subject(), Ok(Subject::Guardian));
        let added_relay_authorities = vec![Pubkey::new_from_array([2; 32])];
        let mixed = [
            ConfigChange { guardian: key, ..admin.clone() },
            ConfigChange { settings: settings.clone(), ..admin.clone() },
            ConfigChange { settings, ..guardian.clone() },
            ConfigChange { added_relay_authorities: added_relay_authorities.clone(), ..admin },
            ConfigChange { added_relay_authorities, ..guardian },
        ];
        for change in mixed {
            assert_eq!(change.subject(), Err(fail(MixedChange)));
        }
    }
}

//! A creator's verification badge, created by the admin's first decision about a wallet. No account means not verified.

use anchor_lang::prelude::*;

/// The outcome of a manual identity check.
#[account]
#[derive(InitSpace, Debug)]
pub struct CreatorProfile {
    /// Layout version, 1.
    pub version: u8,
    /// Bump of this address.
    pub bump: u8,
    /// True to show the badge.
    pub verified: bool,
    /// The creator's wallet.
    pub creator: Pubkey,
    /// When the badge was given, unix seconds; 0 without one.
    pub verified_at: i64,
}

impl CreatorProfile {
    /// Give or remove the badge.
    pub fn set_verified(&mut self, verified: bool, now: i64) {
        self.verified = verified;
        self.verified_at = if verified { now } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_badge_has_no_time() {
        let mut profile = CreatorProfile {
            version: 1,
            bump: 1,
            verified: false,
            creator: Pubkey::default(),
            verified_at: 0,
        };
        profile.set_verified(true, 77);
        assert!(profile.verified && profile.verified_at == 77);
        profile.set_verified(false, 78);
        assert!(!profile.verified && profile.verified_at == 0);
    }
}

//! A creator's verification badge. Made by the admin's first decision about a wallet; absent means not verified.

use anchor_lang::prelude::*;

/// The outcome of a manual identity check.
#[account]
#[derive(InitSpace, Debug)]
pub struct CreatorProfile {
    /// Layout version, 1.
    pub version: u8,
    /// Bump of this address.
    pub bump: u8,
    /// Whether the badge is shown.
    pub verified: bool,
    /// The creator's wallet.
    pub creator: Pubkey,
    /// When the badge was given, unix seconds; 0 without one.
    pub verified_at: i64,
}

impl CreatorProfile {
    /// Give or take the badge.
    pub fn set_verified(&mut self, verified: bool, now: i64) {
        self.verified = verified;
        self.verified_at = if verified { now } else { 0 };
    }
}

//! Ties an Ed25519 key to the one listing it may ever sign for. Never closed: a key that could move
//! between listings would make old signatures valid where they were never meant.

use anchor_lang::prelude::*;

/// A creator's result-signing key and its listing.
#[account]
#[derive(InitSpace, Debug)]
pub struct SigningKey {
    /// Layout version, 1.
    pub version: u8,
    /// Bump of this address.
    pub bump: u8,
    /// The Ed25519 public key.
    pub key: Pubkey,
    /// The only listing whose results it may sign.
    pub listing: Pubkey,
}

//! Binds an Ed25519 key permanently to the only listing that it can sign for. Never closed: if a key could move between
//! listings, old signatures would become valid for another listing.

use anchor_lang::prelude::*;

use crate::constants::ACCOUNT_VERSION;
use crate::errors::MarketplaceError;

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

impl SigningKey {
    /// Bind the key to a listing permanently. A key that is bound already can only be bound to the same listing.
    pub fn bind(&mut self, key: Pubkey, bump: u8, listing: Pubkey) -> Result<()> {
        let is_new = self.version == 0;
        ensure!(
            is_new || self.listing == listing,
            MarketplaceError::SigningKeyTaken
        );
        *self = SigningKey {
            version: ACCOUNT_VERSION,
            bump,
            key,
            listing,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::fail;

    /// First 8 bytes of SHA-256("account:SigningKey").
    const DISCRIMINATOR: [u8; 8] = [0x0d, 0x03, 0x31, 0xd9, 0x11, 0x8e, 0x26, 0xef];

    #[test]
    fn layout() {
        let key = SigningKey {
            version: 1,
            bump: 250,
            key: Pubkey::new_from_array([4; 32]),
            listing: Pubkey::new_from_array([5; 32]),
        };
        let mut bytes = Vec::new();
        key.try_serialize(&mut bytes).unwrap();
        let expected = [&DISCRIMINATOR[..], &[1, 250], &[4; 32], &[5; 32]];
        assert_eq!(bytes, expected.concat());
        assert_eq!(bytes.len(), 8 + SigningKey::INIT_SPACE);
    }

    #[test]
    fn a_key_stays_with_its_listing() {
        let [key, listing, other] = [4, 5, 6].map(|fill| Pubkey::new_from_array([fill; 32]));
        let new = [&DISCRIMINATOR[..], &[0; 66]].concat();
        let mut tie = SigningKey::try_deserialize(&mut &new[..]).unwrap();
        assert!(tie.bind(key, 250, listing).is_ok() && tie.bind(key, 250, listing).is_ok());
        assert_eq!((tie.version, tie.bump, tie.key), (1, 250, key));
        let taken = Err(fail(MarketplaceError::SigningKeyTaken));
        assert_eq!(tie.bind(key, 250, other), taken);
        assert_eq!(tie.listing, listing);
    }
}

//! Binds an Ed25519 key permanently to the only listing that it can sign for. Never closed: if a key could move between
//! listings, old signatures would become valid for another listing.

use anchor_lang::prelude::*;

use crate::constants::ACCOUNT_VERSION;

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
        ensure!(is_new || self.listing == listing, SigningKeyTaken);
        *self = SigningKey { version: ACCOUNT_VERSION, bump, key, listing };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::MarketplaceError::*;
    use crate::guard::fail;

    #[test]
    fn a_key_stays_with_its_listing() {
        let [key, listing, other] = [4, 5, 6].map(|fill| Pubkey::new_from_array([fill; 32]));
        let new = [SigningKey::DISCRIMINATOR, &[0; 66]].concat();
        let mut tie = SigningKey::try_deserialize(&mut &new[..]).unwrap();
        assert!(tie.bind(key, 250, listing).is_ok() && tie.bind(key, 250, listing).is_ok());
        assert_eq!((tie.version, tie.bump, tie.key), (1, 250, key));
        let taken = Err(fail(SigningKeyTaken));
        assert_eq!(tie.bind(key, 250, other), taken);
        assert_eq!(tie.listing, listing);
    }
}

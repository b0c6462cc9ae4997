//! What the instructions of a paid call read of the `Config`: to take all of it apart would cost each of them 1,500
//! compute units more.

use anchor_lang::error::ErrorCode;
use anchor_lang::prelude::*;

use crate::errors::MarketplaceError;
use crate::state::Config;

/// The bytes of a `Config`, taken apart only as far as they are needed; the names are those there.
#[derive(AnchorDeserialize, Clone)]
pub struct CallSettings {
    _version_and_bumps: [u8; 3],
    pub opens_paused: bool,
    pub fee_bps: u16,
    _tier_count: u8,
    relay_authority_count: u8,
    _admins: [u8; 64],
    pub usdc_mint: Pubkey,
    _min_price_and_bond: [u8; 16],
    pub dispute_window_seconds: u32,
    pub refund_grace_seconds: u32,
    pub max_timeout_seconds: u32,
    _longest_span_seconds: [u8; 4],
    pub exposure_multiple: u32,
    _tiers: [u8; 64],
    /// Eight keys.
    relay_authorities: [u8; 256],
}

impl CallSettings {
    /// Whether this key is one of the relay authorities.
    pub fn is_relay_authority(&self, key: &Pubkey) -> bool {
        let used = usize::from(self.relay_authority_count);
        let mut keys = self.relay_authorities.chunks_exact(key.as_ref().len());
        keys.by_ref().take(used).any(|it| it == key.as_ref())
    }

    /// This key is one of the relay authorities.
    pub fn require_relay_authority(&self, key: &Pubkey) -> Result<()> {
        ensure!(
            self.is_relay_authority(key),
            MarketplaceError::NotRelayAuthority
        );
        Ok(())
    }
}

impl Owner for CallSettings {
    fn owner() -> Pubkey {
        Config::owner()
    }
}

impl AccountDeserialize for CallSettings {
    fn try_deserialize(data: &mut &[u8]) -> Result<Self> {
        if !data.starts_with(Config::DISCRIMINATOR) {
            return Err(ErrorCode::AccountDiscriminatorMismatch.into());
        }
        Self::try_deserialize_unchecked(data)
    }

    fn try_deserialize_unchecked(data: &mut &[u8]) -> Result<Self> {
        data.get(Config::DISCRIMINATOR.len()..)
            .and_then(|mut fields| Self::deserialize(&mut fields).ok())
            .ok_or_else(|| ErrorCode::AccountDidNotDeserialize.into())
    }
}

/// Read only.
impl AccountSerialize for CallSettings {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants::MAX_RELAY_AUTHORITIES;

    /// A config whose every byte differs from its neighbours.
    fn bytes_of_config() -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..8 + Config::INIT_SPACE)
            .map(|at| (at * 7 % 251) as u8)
            .collect();
        bytes[..8].copy_from_slice(Config::DISCRIMINATOR);
        (bytes[8 + 3], bytes[8 + 7]) = (1, 3);
        bytes
    }

    #[test]
    fn says_what_the_config_says() {
        let bytes = bytes_of_config();
        let config = Config::try_deserialize(&mut &bytes[..]).unwrap();
        let settings = CallSettings::try_deserialize(&mut &bytes[..]).unwrap();
        assert_eq!(settings.opens_paused, config.opens_paused);
        assert_eq!(settings.fee_bps, config.fee_bps);
        assert_eq!(settings.usdc_mint, config.usdc_mint);
        assert_eq!(settings.exposure_multiple, config.exposure_multiple);
        assert_eq!(
            (
                settings.dispute_window_seconds,
                settings.refund_grace_seconds,
                settings.max_timeout_seconds
            ),
            (
                config.dispute_window_seconds,
                config.refund_grace_seconds,
                config.max_timeout_seconds
            )
        );
        for count in 0..=MAX_RELAY_AUTHORITIES {
            let mut bytes = bytes.clone();
            bytes[8 + 7] = count;
            let settings = CallSettings::try_deserialize(&mut &bytes[..]).unwrap();
            for (index, key) in config.relay_authorities.iter().enumerate() {
                let is_one = index < usize::from(count);
                assert_eq!(settings.is_relay_authority(key), is_one);
                assert_eq!(settings.require_relay_authority(key).is_ok(), is_one);
            }
            assert!(!settings.is_relay_authority(&Pubkey::new_from_array([9; 32])));
        }
    }

    #[test]
    fn other_accounts_and_short_ones_are_refused() {
        let bytes = bytes_of_config();
        for at in 0..8 {
            let mut other = bytes.clone();
            other[at] ^= 1;
            let refused = CallSettings::try_deserialize(&mut &other[..]).err();
            assert_eq!(
                refused,
                Some(ErrorCode::AccountDiscriminatorMismatch.into())
            );
        }
        let fields = 8 + Config::INIT_SPACE - 64;
        assert!(CallSettings::try_deserialize(&mut &bytes[..fields]).is_ok());
        let refused = CallSettings::try_deserialize(&mut &bytes[..fields - 1]).err();
        assert_eq!(refused, Some(ErrorCode::AccountDidNotDeserialize.into()));
    }
}

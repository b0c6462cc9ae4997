//! Seeds, windows and limits. Everything a client needs is a `#[constant]`, so that it reaches the
//! IDL and the TypeScript that derives addresses from it.

use anchor_lang::prelude::*;

/// Address of the one `Config`, which follows from its seed and the program's id; a test derives it.
pub const CONFIG_ADDRESS: Pubkey = pubkey!("GLQCj4YUdTtpTVgyrjr1eLA3mzVsboT6iHwVaiezHzk6");
/// Address of the treasury, likewise.
pub const TREASURY_ADDRESS: Pubkey = pubkey!("9Vdy6EpxZqW7Nj5c8sze1hMDrviBeYa6mpokmE41GRHA");

/// Seed of the one `Config`.
#[constant]
pub const CONFIG_SEED: &[u8] = b"config";
/// Seed of the marketplace's own USDC token account, which collects fees.
#[constant]
pub const TREASURY_SEED: &[u8] = b"treasury";
/// Seed of a `CreatorProfile`, followed by the creator's wallet.
#[constant]
pub const CREATOR_SEED: &[u8] = b"creator";
/// Seed of an `AgentListing`, followed by the creator's wallet and the 16-byte listing id.
#[constant]
pub const LISTING_SEED: &[u8] = b"listing";
/// Seed of a `SigningKey`, followed by the Ed25519 public key.
#[constant]
pub const KEY_SEED: &[u8] = b"key";
/// Seed of a `CreatorCollateral`, followed by the listing's address.
#[constant]
pub const COLLATERAL_SEED: &[u8] = b"collateral";
/// Seed of the token account that holds a listing's collateral, followed by the listing's address.
#[constant]
pub const COLLATERAL_VAULT_SEED: &[u8] = b"collateral_vault";
/// Seed of a `KeyGrant`, followed by the wallet and the 16-byte key id.
#[constant]
pub const GRANT_SEED: &[u8] = b"grant";
/// Seed of the address without data that a wallet approves as SPL delegate, followed by the wallet.
#[constant]
pub const SPENDER_SEED: &[u8] = b"spender";
/// Seed of an `ExecutionRecord`, followed by the 16-byte execution id.
#[constant]
pub const EXECUTION_SEED: &[u8] = b"execution";
/// Seed of the token account that holds one execution's price, followed by the record's address.
#[constant]
pub const ESCROW_SEED: &[u8] = b"escrow";
/// Seed of a `Dispute`, followed by the record's address.
#[constant]
pub const DISPUTE_SEED: &[u8] = b"dispute";

/// Hashed before the caller and the nonce to make an execution id; names the purpose so that no
/// other hash of the same bytes can pass for one.
#[constant]
pub const EXECUTION_ID_DOMAIN: &[u8] = b"agent-marketplace:execution:v1";
/// Precedes the listing's 32 raw bytes in the message that proves possession of a signing key.
#[constant]
pub const REGISTER_DOMAIN: &[u8] = b"agent-marketplace:register:v1:";

/// Layout version that every account carries in its first byte after the discriminator.
pub const ACCOUNT_VERSION: u8 = 1;

/// Basis points in a whole.
#[constant]
pub const BPS_DENOMINATOR: u16 = 10_000;
/// The fee creators are promised not to exceed: 1%.
#[constant]
pub const MAX_FEE_BPS: u16 = 100;
/// Decimals of the settlement token; Circle's USDC has six.
#[constant]
pub const USDC_DECIMALS: u8 = 6;

/// Least and greatest `min_price`, base units: 0.01 to 1 USDC.
#[constant]
pub const MIN_PRICE_FLOOR: u64 = 10_000;
#[constant]
pub const MIN_PRICE_CEILING: u64 = 1_000_000;
/// Least and greatest dispute window, seconds: the promised 72 hours to 30 days.
#[constant]
pub const DISPUTE_WINDOW_SECONDS_MIN: u32 = 259_200;
#[constant]
pub const DISPUTE_WINDOW_SECONDS_MAX: u32 = 2_592_000;
/// Least and greatest time between an execution's deadline and the refund that anyone may trigger.
#[constant]
pub const REFUND_GRACE_SECONDS_MIN: u32 = 300;
#[constant]
pub const REFUND_GRACE_SECONDS_MAX: u32 = 3_600;
/// Least and greatest bound on a listing's timeout, seconds.
#[constant]
pub const MAX_TIMEOUT_SECONDS_MIN: u32 = 60;
#[constant]
pub const MAX_TIMEOUT_SECONDS_MAX: u32 = 86_400;
/// Greatest dispute bond, lamports: 1 SOL.
#[constant]
pub const DISPUTE_BOND_LAMPORTS_MAX: u64 = 1_000_000_000;
/// How many collateral tiers a config can hold.
#[constant]
pub const MAX_COLLATERAL_TIERS: u8 = 4;

/// Longest metadata or evidence URI, bytes.
#[constant]
pub const MAX_URI_LENGTH: u16 = 200;
/// Tags of the standard taxonomy, in the order of their bits in `tag_mask`: research, code, legal,
/// finance, data, social, security, writing, sql, monitoring.
#[constant]
pub const STANDARD_TAG_COUNT: u8 = 10;
/// Most tags one listing may carry.
#[constant]
pub const MAX_TAGS: u8 = 5;

/// Longest life of a key's grant, seconds: one year.
#[constant]
pub const MAX_GRANT_SECONDS: i64 = 31_536_000;
/// How long after its open a refunded record must stay before its rent can be reclaimed.
#[constant]
pub const REFUNDED_RECORD_SECONDS: i64 = 604_800;
/// How long the admin may leave a dispute unanswered before anyone can end it.
#[constant]
pub const DISPUTE_LAPSE_SECONDS: i64 = 2_592_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_addresses_follow_from_their_seeds() {
        let find = |seed: &[u8]| Pubkey::find_program_address(&[seed], &crate::ID).0;
        assert_eq!(find(CONFIG_SEED), CONFIG_ADDRESS);
        assert_eq!(find(TREASURY_SEED), TREASURY_ADDRESS);
    }
}

//! Seeds, windows and limits. Everything a client needs is a `#[constant]`, so that it reaches the
//! IDL and the TypeScript that derives addresses from it.

use anchor_lang::prelude::*;
use const_crypto::ed25519::derive_program_address;

/// Address of the one `Config`, derived at compile time, so a new program id needs no other change.
pub const CONFIG_ADDRESS: Pubkey =
    Pubkey::new_from_array(derive_program_address(&[CONFIG_SEED], crate::ID_CONST.as_array()).0);
/// Address and bump of the treasury, also derived at compile time.
const TREASURY: ([u8; 32], u8) =
    derive_program_address(&[TREASURY_SEED], crate::ID_CONST.as_array());
/// Address of the treasury.
pub const TREASURY_ADDRESS: Pubkey = Pubkey::new_from_array(TREASURY.0);
/// Bump of that address.
pub const TREASURY_BUMP: u8 = TREASURY.1;
/// Address and bump of the account of unclaimed refunds, also derived at compile time.
const UNCLAIMED: ([u8; 32], u8) =
    derive_program_address(&[UNCLAIMED_SEED], crate::ID_CONST.as_array());
/// Address of the account of unclaimed refunds.
pub const UNCLAIMED_ADDRESS: Pubkey = Pubkey::new_from_array(UNCLAIMED.0);
/// Bump of that address.
pub const UNCLAIMED_BUMP: u8 = UNCLAIMED.1;

/// Seed of the one `Config`.
#[constant]
pub const CONFIG_SEED: &[u8] = b"config";
/// Seed of a `PendingChange`, followed by its id, u64 little-endian.
#[constant]
pub const CHANGE_SEED: &[u8] = b"change";
/// Seed of the marketplace's own USDC token account, which collects fees.
#[constant]
pub const TREASURY_SEED: &[u8] = b"treasury";
/// Seed of the marketplace's own USDC token account of refunds that their callers' accounts could not receive.
#[constant]
pub const UNCLAIMED_SEED: &[u8] = b"unclaimed";
/// Seed of the account that forbids a second claim of a refund, followed by the tree's address and the leaf's index, u32
/// little-endian.
#[constant]
pub const CLAIM_SEED: &[u8] = b"claim";
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
/// Seed of a wallet's `Spender` address, followed by the wallet. The wallet approves it as SPL delegate. It has no
/// data. Its lamports are the gas balance: gas of all the wallet's keys, and rent if nobody else lends it.
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

/// Seed of a `Deposit`, followed by the hash of terms, payer, price and service fee.
#[constant]
pub const DEPOSIT_SEED: &[u8] = b"deposit";

/// Domain prefix of an execution id's hash, followed by the caller and
/// the nonce. So no other hash of the same bytes can pass for an id.
#[constant]
pub const EXECUTION_ID_DOMAIN: &[u8] = b"agent-marketplace:execution:v1";
/// Domain prefix of the message that proves possession of a signing key, followed by the listing's 32 address bytes.
#[constant]
pub const REGISTER_DOMAIN: &[u8] = b"agent-marketplace:register:v1:";

/// Domain prefix of the hash of a deposit's terms.
#[constant]
pub const DEPOSIT_TERMS_DOMAIN: &[u8] = b"agent-marketplace:deposit-terms:v1:";
/// Domain prefix of the hash in a deposit's address, followed by terms hash, payer, price and service fee.
#[constant]
pub const DEPOSIT_DOMAIN: &[u8] = b"agent-marketplace:deposit:v1:";

/// Layout version, in the first byte of every account after the discriminator.
pub const ACCOUNT_VERSION: u8 = 1;

/// Basis points in a whole.
#[constant]
pub const BPS_DENOMINATOR: u16 = 10_000;
/// Highest fee, as promised to creators: 1%.
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
/// Least and greatest time between an execution's deadline and its `refund_at`, seconds.
#[constant]
pub const REFUND_GRACE_SECONDS_MIN: u32 = 300;
#[constant]
pub const REFUND_GRACE_SECONDS_MAX: u32 = 3_600;
/// Least and greatest `max_timeout_seconds`, the limit of a listing's timeout.
#[constant]
pub const MAX_TIMEOUT_SECONDS_MIN: u32 = 60;
#[constant]
pub const MAX_TIMEOUT_SECONDS_MAX: u32 = 86_400;
/// Least and greatest `record_seconds`, the time that a paid record stays after its end: one hour to 72 hours.
/// The least one is also how long a refunded record stays after its open: both periods in which a nonce is accepted.
#[constant]
pub const RECORD_SECONDS_MIN: u32 = 3_600;
#[constant]
pub const RECORD_SECONDS_MAX: u32 = 259_200;
/// Greatest dispute bond, lamports: 1 SOL.
#[constant]
pub const DISPUTE_BOND_LAMPORTS_MAX: u64 = 1_000_000_000;
/// Greatest `exposure_multiple`, the limit of prices opened in one dispute window as a multiple of the collateral.
#[constant]
pub const EXPOSURE_MULTIPLE_MAX: u32 = 1_000;
/// Greatest price that a collateral tier can allow, base units: 10,000 USDC.
#[constant]
pub const TIER_PRICE_MAX: u64 = 10_000_000_000_u64;
/// Greatest deposit that a collateral tier can ask for, base units: 100,000 USDC.
#[constant]
pub const TIER_DEPOSIT_MAX: u64 = 100_000_000_000_u64;
/// Most that one dispute can take from a listing's collateral, as a multiple of the disputed price.
#[constant]
pub const SLASH_MULTIPLE: u64 = 20;
/// Greatest `admin_delay_seconds`, the delay of a proposed change: 30 days.
#[constant]
pub const ADMIN_DELAY_SECONDS_MAX: u32 = 2_592_000;
/// Seconds after it is due in which a pending change can be applied: 7 days.
#[constant]
pub const CHANGE_SECONDS: i64 = 604_800;
/// Seconds that a guardian's replacement waits longer than other changes: 7 days. If the replacement of a stolen admin
/// key is proposed in this time, it is due first, and cancels the thief's.
#[constant]
pub const GUARDIAN_CHANGE_SECONDS: i64 = 604_800;
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

/// How many relay authorities a config can hold.
#[constant]
pub const MAX_RELAY_AUTHORITIES: u8 = 8;

/// Longest life of a key's grant, seconds: one year.
#[constant]
pub const MAX_GRANT_SECONDS: i64 = 31_536_000;
/// Most gas of one execution, lamports: the base fees of twenty signatures.
#[constant]
pub const MAX_GAS_LAMPORTS: u32 = 100_000;
/// Default `max_gas_lamports` of a grant: two transactions, and as much again for priority fees.
#[constant]
pub const DEFAULT_MAX_GAS_LAMPORTS: u32 = 20_000;
/// Highest service fee of a deposit, on top of the price, base units: 0.05 USDC.
#[constant]
pub const MAX_SERVICE_FEE: u64 = 50_000;
/// Lifetime of a deposit, seconds. It can open its execution before the end; after that anyone can refund a paid one.
#[constant]
pub const DEPOSIT_SECONDS: i64 = 600;
/// Seconds after its preparation from which anyone can close an unpaid deposit: one day.
#[constant]
pub const UNFUNDED_DEPOSIT_SECONDS: i64 = 86_400;
/// Seconds after anyone can refund an execution or a deposit, from which a refund that the caller's account cannot
/// receive can be moved to the account of unclaimed refunds: one hour.
#[constant]
pub const UNCLAIMED_SECONDS: i64 = 3_600;
/// Seconds after its dispute window from which a paid record can be closed without an archive: one year.
#[constant]
pub const UNARCHIVED_RECORD_SECONDS: i64 = 31_536_000;
/// Length of the half-hour that a nonce begins with, seconds.
#[constant]
pub const NONCE_HALF_HOUR_SECONDS: u64 = 1_800;
/// Seconds that the admin has to decide a dispute before anyone can end it: 30 days.
#[constant]
pub const DISPUTE_LAPSE_SECONDS: i64 = 2_592_000;
/// Seconds that an ended dispute stays: the longest dispute window, so its record can never be disputed again.
#[constant]
pub const ENDED_DISPUTE_SECONDS: i64 = DISPUTE_WINDOW_SECONDS_MAX as i64;

/// Seed of an `Archive`, followed by its index, u16 little-endian.
#[constant]
pub const ARCHIVE_SEED: &[u8] = b"archive";
/// Domain prefix of a leaf's hash, followed by the record's address, the fields that a dispute needs, and the hash of
/// the other fields. Inner nodes hash 64 bytes without a prefix, so none of them can pass for a record.
#[constant]
pub const ARCHIVE_LEAF_DOMAIN: &[u8] = b"agent-marketplace:archive:v1";
/// Domain prefix of the hash of an unclaimed refund's leaf, followed by the record or deposit, the caller, the amount
/// and the time of the move. None of these leaves can pass for a record.
#[constant]
pub const UNCLAIMED_LEAF_DOMAIN: &[u8] = b"agent-marketplace:unclaimed:v1";
/// Levels of an archive's tree below its root: room for 2^20 leaves.
#[constant]
pub const ARCHIVE_DEPTH: u8 = 20;
/// Number of recent roots that an archive's tree keeps: the buffer size of SPL Account Compression.
#[constant]
pub const ARCHIVE_BUFFER: u8 = 64;
/// Levels of an archive's tree below its root whose nodes its account stores (the canopy). A proof on chain has only
/// the nodes below them.
#[constant]
pub const ARCHIVE_CANOPY_DEPTH: u8 = 10;
/// Nodes of a proof on chain: `ARCHIVE_DEPTH` less `ARCHIVE_CANOPY_DEPTH`.
#[constant]
pub const ARCHIVE_PROOF_NODES: u8 = 10;
/// Bytes at the start of a record's fields, before the hashed rest, that a dispute needs: those of `RecordHead`.
#[constant]
pub const RECORD_HEAD_BYTES: u8 = 102;
/// Leaves that fit into an archive.
#[constant]
pub const ARCHIVE_CAPACITY: u32 = 1_048_576;
/// Leaves from which on the next archive can be created: nine tenths, so archiving never waits for a tree.
#[constant]
pub const ARCHIVE_SUCCESSOR_COUNT: u32 = 943_719;
/// Bytes of a tree's account: header and tree 44,280, canopy 65,472.
#[constant]
pub const ARCHIVE_TREE_BYTES: u32 = 109_752;
/// Most records in one `archive_executions`: one transaction can carry their addresses and those of as many rent
/// sponsors, but no more.
#[constant]
pub const MAX_ARCHIVED_RECORDS: u8 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_addresses_follow_from_their_seeds() {
        let find = |seed: &[u8]| Pubkey::find_program_address(&[seed], &crate::ID);
        assert_eq!(find(CONFIG_SEED).0, CONFIG_ADDRESS);
        assert_eq!(find(TREASURY_SEED), (TREASURY_ADDRESS, TREASURY_BUMP));
        assert_eq!(find(UNCLAIMED_SEED), (UNCLAIMED_ADDRESS, UNCLAIMED_BUMP));
    }
}

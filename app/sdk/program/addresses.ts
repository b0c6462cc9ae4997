/**
 * Derives every address that follows from the program's seeds. The seeds come from the generated IDL, so that client
 * and program cannot disagree. Part of program.ts, which re-exports it.
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import { PROGRAM_ID } from './accounts.ts';
import { u16, u32, u64 } from './borsh.ts';
import { constantBytes } from './constants.ts';
import { deriveAddress } from './programAddress.ts';
import { KeptAddress } from './pubkey.ts';
import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID } from './token.ts';

export { ARCHIVE_LEAF_DOMAIN, constants } from './constants.ts';

const BPF_LOADER_UPGRADEABLE = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');

const SEEDS = {
  config: constantBytes('CONFIG_SEED'),
  treasury: constantBytes('TREASURY_SEED'),
  unclaimed: constantBytes('UNCLAIMED_SEED'),
  claim: constantBytes('CLAIM_SEED'),
  change: constantBytes('CHANGE_SEED'),
  creator: constantBytes('CREATOR_SEED'),
  listing: constantBytes('LISTING_SEED'),
  key: constantBytes('KEY_SEED'),
  collateral: constantBytes('COLLATERAL_SEED'),
  collateralVault: constantBytes('COLLATERAL_VAULT_SEED'),
  grant: constantBytes('GRANT_SEED'),
  spender: constantBytes('SPENDER_SEED'),
  execution: constantBytes('EXECUTION_SEED'),
  escrow: constantBytes('ESCROW_SEED'),
  dispute: constantBytes('DISPUTE_SEED'),
  deposit: constantBytes('DEPOSIT_SEED'),
  archive: constantBytes('ARCHIVE_SEED'),
  /** Anchor's own: the signer of the program's calls to itself. */
  eventAuthority: utf8ToBytes('__event_authority'),
};

/** Precedes a listing's 32 bytes in the message that proves possession of a signing key. */
export const REGISTER_DOMAIN = constantBytes('REGISTER_DOMAIN');

/**
 * Like `PublicKey.findProgramAddressSync`, for seeds within the chain's limits. Throws RangeError if no bump gives an
 * address.
 */
export function findProgramAddress(seeds: readonly Uint8Array[], programId: PublicKey): [PublicKey, bump: number] {
  const [address, bump] = deriveAddress(seeds, programId.toBytes());
  return [new PublicKey(address), bump];
}

/** Deriving an address takes about 0.04 ms, and one paid call needs the same dozen again and again. */
const kept = new LRUCache<string, PublicKey>({ max: 10_000 });

/** Apart from the derived ones, whose names a text could have: `config` is no address. */
const parsed = new LRUCache<string, PublicKey>({ max: 10_000 });

function remember(name: string, derive: () => PublicKey, cache = kept): PublicKey {
  const known = cache.get(name);
  if (known) return known;
  const address = new KeptAddress(derive().toBytes());
  cache.set(name, address);
  return address;
}

/** The address of a base58 text. Throws if the text is not an address. */
export const parseAddress = (text: string): PublicKey => remember(text, () => new PublicKey(text), parsed);

/** All seeds but the first have a fixed length, so the joined bytes are a unique cache key. */
function find(...seeds: Uint8Array[]): PublicKey {
  let name = '';
  for (const seed of seeds) name += String.fromCharCode.apply(null, seed as unknown as number[]);
  return remember(name, () => findProgramAddress(seeds, PROGRAM_ID)[0]);
}

export const findConfig = (): PublicKey => find(SEEDS.config);
/** The pending change with this id. */
export const findChange = (changeId: bigint): PublicKey => find(SEEDS.change, u64.write(changeId));
export const findTreasury = (): PublicKey => find(SEEDS.treasury);
/** The program's USDC account of unclaimed refunds. */
export const findUnclaimed = (): PublicKey => find(SEEDS.unclaimed);
/** The account that exists once the refund of this leaf has been claimed. */
export const findRefundClaim = (tree: PublicKey, leafIndex: number): PublicKey =>
  find(SEEDS.claim, tree.toBytes(), u32.write(leafIndex));
export const findCreator = (wallet: PublicKey): PublicKey => find(SEEDS.creator, wallet.toBytes());
export const findListing = (creator: PublicKey, listingId: Uint8Array): PublicKey =>
  find(SEEDS.listing, creator.toBytes(), listingId);
export const findSigningKey = (key: PublicKey): PublicKey => find(SEEDS.key, key.toBytes());
export const findCollateral = (listing: PublicKey): PublicKey => find(SEEDS.collateral, listing.toBytes());
export const findCollateralVault = (listing: PublicKey): PublicKey => find(SEEDS.collateralVault, listing.toBytes());
export const findGrant = (wallet: PublicKey, keyId: Uint8Array): PublicKey =>
  find(SEEDS.grant, wallet.toBytes(), keyId);
/** The address, without data, that a wallet approves as its SPL delegate. */
export const findSpender = (wallet: PublicKey): PublicKey => find(SEEDS.spender, wallet.toBytes());
/** The bump of a wallet's spender address. */
export const findSpenderBump = (wallet: PublicKey): number =>
  findProgramAddress([SEEDS.spender, wallet.toBytes()], PROGRAM_ID)[1];
export const findExecution = (executionId: Uint8Array): PublicKey => find(SEEDS.execution, executionId);
export const findEscrow = (record: PublicKey): PublicKey => find(SEEDS.escrow, record.toBytes());
/** The bumps of an execution's record and of its escrow. */
export function findExecutionBumps(executionId: Uint8Array): { bump: number; escrowBump: number } {
  const [record, bump] = findProgramAddress([SEEDS.execution, executionId], PROGRAM_ID);
  const [, escrowBump] = findProgramAddress([SEEDS.escrow, record.toBytes()], PROGRAM_ID);
  return { bump, escrowBump };
}
export const findDispute = (record: PublicKey): PublicKey => find(SEEDS.dispute, record.toBytes());
/** The deposit of this hash. `depositAddress` makes both. */
export const findDeposit = (hash: Uint8Array): PublicKey => find(SEEDS.deposit, hash);
/** The archive with this index, from 0. */
export const findArchive = (index: number): PublicKey => find(SEEDS.archive, u16.write(index));
/** The address that signs the program's calls to itself, which carry events. */
export const findEventAuthority = (): PublicKey => find(SEEDS.eventAuthority);
/** The associated token account of a wallet, or of a program's address. */
export const findTokenAccount = (wallet: PublicKey, mint: PublicKey): PublicKey =>
  remember(`token:${wallet.toBase58()}:${mint.toBase58()}`, () => {
    const seeds = [wallet.toBytes(), TOKEN_PROGRAM_ID.toBytes(), mint.toBytes()];
    return findProgramAddress(seeds, ASSOCIATED_TOKEN_PROGRAM_ID)[0];
  });
/** The loader's account that names the program's upgrade authority. */
export const findProgramData = (): PublicKey =>
  remember('program data', () => findProgramAddress([PROGRAM_ID.toBytes()], BPF_LOADER_UPGRADEABLE)[0]);

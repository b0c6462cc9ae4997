/**
 * Reads the program's accounts: bytes in, typed values out. The layouts come from the generated IDL; big numbers leave
 * as bigint, 32-byte keys as PublicKey, other byte arrays as Uint8Array, enums as lower-camel-case names.
 */
import type { PublicKey } from '@solana/web3.js';
import { idl } from './idl/idl.ts';
import { decodeAccountData, discriminatorOf } from './idlCodec.ts';
import { KeptAddress } from './keptAddress.ts';

/** Where the program is deployed, on every cluster. */
export const PROGRAM_ID: PublicKey = new KeptAddress(idl.address);

export type ListingStatus = 'active' | 'paused' | 'delisted';
/** Where an ExecutionRecord stands; the `ExecutionStatus` of the REST API is another. */
export type RecordStatus = 'open' | 'completed' | 'refunded' | 'disputed' | 'disputeUpheld';
export type DisputeOutcome = 'open' | 'rejected' | 'upheld' | 'lapsed';

export interface CollateralTier {
  maxPrice: bigint;
  deposit: bigint;
}

export interface Config {
  version: number;
  bump: number;
  treasuryBump: number;
  opensPaused: boolean;
  feeBps: number;
  tierCount: number;
  relayAuthorityCount: number;
  admin: PublicKey;
  pendingAdmin: PublicKey;
  usdcMint: PublicKey;
  minPrice: bigint;
  disputeBondLamports: bigint;
  disputeWindowSeconds: number;
  refundGraceSeconds: number;
  maxTimeoutSeconds: number;
  longestSpanSeconds: number;
  exposureMultiple: number;
  /** Always four; only the first `tierCount` are in use. */
  tiers: CollateralTier[];
  /** Always eight; only the first `relayAuthorityCount` are in use. */
  relayAuthorities: PublicKey[];
  reserved: Uint8Array;
}

/** The relay authorities in use: who may settle and refund, and open for API keys. */
export function relayAuthoritiesOf(config: Config): PublicKey[] {
  return config.relayAuthorities.slice(0, config.relayAuthorityCount);
}

export interface CreatorProfile {
  version: number;
  bump: number;
  verified: boolean;
  creator: PublicKey;
  verifiedAt: bigint;
}

export interface AgentListing {
  version: number;
  status: ListingStatus;
  bump: number;
  creator: PublicKey;
  listingId: Uint8Array;
  payout: PublicKey;
  signingKey: PublicKey;
  price: bigint;
  timeoutSeconds: number;
  minTimeoutSeconds: number;
  listingVersion: number;
  tagMask: number;
  metadataHash: Uint8Array;
  listedAt: bigint;
  metadataUri: string;
}

export interface SigningKey {
  version: number;
  bump: number;
  key: PublicKey;
  listing: PublicKey;
}

export interface CreatorCollateral {
  version: number;
  returned: boolean;
  bump: number;
  vaultBump: number;
  listing: PublicKey;
  /** Who paid the vault's rent. */
  rentSponsor: PublicKey;
  deposited: bigint;
  slashed: bigint;
  owed: bigint;
  disputedAmount: bigint;
  exposureOpened: bigint;
  exposureWindowStart: bigint;
  returnableAt: bigint;
  openDisputes: number;
  reserved: Uint8Array;
}

export interface KeyGrant {
  version: number;
  revoked: boolean;
  bump: number;
  spenderBump: number;
  sourceBump: number;
  wallet: PublicKey;
  keyId: Uint8Array;
  /** Who paid this account's rent. */
  rentSponsor: PublicKey;
  perExecutionMax: bigint;
  periodMax: bigint;
  totalMax: bigint;
  periodSeconds: number;
  expiresAt: bigint;
  createdAt: bigint;
  periodStart: bigint;
  periodSpent: bigint;
  totalSpent: bigint;
  executionCount: bigint;
  /** 0 before the first open. */
  lastOpenedAt: bigint;
  /** Most that one execution may take from the wallet's tank as gas, lamports. */
  maxGasLamports: number;
  reserved: Uint8Array;
}

export interface ExecutionRecord {
  version: number;
  status: RecordStatus;
  bump: number;
  escrowBump: number;
  executionId: Uint8Array;
  listing: PublicKey;
  caller: PublicKey;
  signingKey: PublicKey;
  /** All zero when the wallet opened the execution itself. */
  keyId: Uint8Array;
  /** Who lent the rent and gets it back. */
  rentSponsor: PublicKey;
  price: bigint;
  requestHash: Uint8Array;
  resultHash: Uint8Array;
  openedAt: bigint;
  deadline: bigint;
  refundAt: bigint;
  settledAt: bigint;
  disputeWindowSeconds: number;
  listingVersion: number;
  executionTimeMs: number;
  /** Lamports parked at open for the relay authority that ends it. */
  gasLamports: number;
  feeBps: number;
}

export interface Dispute {
  version: number;
  outcome: DisputeOutcome;
  bump: number;
  record: PublicKey;
  listing: PublicKey;
  caller: PublicKey;
  /** Who paid this account's rent and the bond. */
  rentSponsor: PublicKey;
  evidenceHash: Uint8Array;
  /** All zero before the outcome. */
  reasonHash: Uint8Array;
  openedAt: bigint;
  /** Lamports held as bond, as far as they are not paid out. */
  bond: bigint;
  price: bigint;
  amountToCaller: bigint;
  amountToTreasury: bigint;
  /** Part of `amountToCaller` that waits for an account that can receive it. */
  owed: bigint;
  /** 0 while open. */
  resolvedAt: bigint;
}

export interface Archive {
  version: number;
  bump: number;
  /** Its place in the line of archives, from 0. */
  index: number;
  tree: PublicKey;
  /** Leaves in the tree. */
  count: number;
  createdAt: bigint;
}

export interface Accounts {
  Config: Config;
  CreatorProfile: CreatorProfile;
  AgentListing: AgentListing;
  SigningKey: SigningKey;
  CreatorCollateral: CreatorCollateral;
  KeyGrant: KeyGrant;
  ExecutionRecord: ExecutionRecord;
  Dispute: Dispute;
  Archive: Archive;
}

/** An account's fields. Throws RangeError when the data is not of an account of this name. */
export function decodeAccount<Name extends keyof Accounts>(name: Name, data: Uint8Array): Accounts[Name] {
  return decodeAccountData(name, data) as Accounts[Name];
}

/** The 8 bytes that begin every account of this name. */
export function accountDiscriminator(name: keyof Accounts): Uint8Array {
  return discriminatorOf(name);
}

/** Byte offsets of an ExecutionRecord's fields, for `memcmp` filters of getProgramAccounts. */
export const RECORD_OFFSETS = {
  status: 9,
  executionId: 12,
  listing: 28,
  caller: 60,
  signingKey: 92,
  keyId: 124,
  rentSponsor: 140,
  price: 172,
  requestHash: 180,
  resultHash: 212,
  openedAt: 244,
  deadline: 252,
  refundAt: 260,
  settledAt: 268,
} as const;

/** The byte that stands for each status of an ExecutionRecord. */
export const RECORD_STATUS_BYTE: Record<RecordStatus, number> = {
  open: 0,
  completed: 1,
  refunded: 2,
  disputed: 3,
  disputeUpheld: 4,
};

/** Byte offsets of an AgentListing's fields. */
export const LISTING_OFFSETS = { status: 9, creator: 11, listingId: 43, payout: 59, signingKey: 91 } as const;

/** Byte offsets of a KeyGrant's fields. */
export const GRANT_OFFSETS = { revoked: 9, wallet: 13, keyId: 45, rentSponsor: 61 } as const;

/** Byte offsets of a Dispute's fields. */
export const DISPUTE_OFFSETS = { outcome: 9, record: 11, listing: 43, caller: 75, rentSponsor: 107 } as const;

/** The byte that stands for each outcome of a Dispute. */
export const DISPUTE_OUTCOME_BYTE: Record<DisputeOutcome, number> = { open: 0, rejected: 1, upheld: 2, lapsed: 3 };

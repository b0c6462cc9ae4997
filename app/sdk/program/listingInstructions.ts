/** Instructions of a listing, from listing an agent to the return of its collateral. Part of program.ts. */
import { concatBytes } from '@noble/hashes/utils.js';
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { ListingStatus } from './accounts.ts';
import {
  findCollateral,
  findCollateralVault,
  findListing,
  findSigningKey,
  findTokenAccount,
  REGISTER_DOMAIN,
} from './addresses.ts';
import { buildInstruction } from './instruction.ts';

/** The message that a listing's signing key signs, to prove that the creator holds the key. */
export function registerMessage(listing: PublicKey): Uint8Array {
  return concatBytes(REGISTER_DOMAIN, listing.toBytes());
}

export interface ListingTerms {
  price: bigint;
  timeoutSeconds: number;
  minTimeoutSeconds: number;
  /** One bit for each standard tag. */
  tagMask: number;
  metadataHash: Uint8Array;
  metadataUri: string;
}

export interface ListAgentInput {
  creator: PublicKey;
  payer: PublicKey;
  listingId: Uint8Array;
  signingKey: PublicKey;
  /** 64 bytes: the signing key's Ed25519 signature over `registerMessage(listing)`. */
  possession: Uint8Array;
  /** The creator's USDC account that pays the deposit. */
  source: PublicKey;
  payout: PublicKey;
  usdcMint: PublicKey;
  /** Maximum deposit that the creator agrees to, base units. */
  maxDeposit: bigint;
  terms: ListingTerms;
}

/** Lists an agent. Signs: creator, payer. */
export function listAgent(input: ListAgentInput): TransactionInstruction {
  const listing = findListing(input.creator, input.listingId);
  const accounts = { ...input, listing, ...collateralOf(listing), signingKey: findSigningKey(input.signingKey) };
  return buildInstruction('list_agent', accounts, input);
}

export interface UpdateListingInput {
  creator: PublicKey;
  listing: PublicKey;
  payout: PublicKey;
  /** Maximum collateral that the creator agrees to keep for a higher price, base units. */
  maxDeposit: bigint;
  terms: ListingTerms;
}

/** Replaces all terms and the payout account. Signs: creator. */
export function updateListing(input: UpdateListingInput): TransactionInstruction {
  return buildInstruction('update_listing', { ...input, collateral: findCollateral(input.listing) });
}

export interface SetListingStatusInput {
  creator: PublicKey;
  listing: PublicKey;
  status: ListingStatus;
}

/** Pauses or resumes a listing. Signs: creator. */
export function setListingStatus(input: SetListingStatusInput): TransactionInstruction {
  return buildInstruction('set_listing_status', { ...input, collateral: findCollateral(input.listing) });
}

export interface RotateSigningKeyInput {
  creator: PublicKey;
  payer: PublicKey;
  listing: PublicKey;
  /** The new key. Earlier keys of this listing are allowed. */
  signingKey: PublicKey;
  /** As in `listAgent`, signed by the new key. */
  possession: Uint8Array;
}

/** Replaces the key that signs results of later executions. Signs: creator, payer. */
export function rotateSigningKey(input: RotateSigningKeyInput): TransactionInstruction {
  const accounts = { ...input, signingKey: findSigningKey(input.signingKey) };
  return buildInstruction('rotate_signing_key', accounts, input);
}

export interface DelistAgentInput {
  creator: PublicKey;
  listing: PublicKey;
}

/** Permanently ends a listing. Its collateral can be returned once nothing can be disputed any more. Signs: creator. */
export function delistAgent(input: DelistAgentInput): TransactionInstruction {
  return buildInstruction('delist_agent', { ...input, collateral: findCollateral(input.listing) });
}

export interface TopUpCollateralInput {
  creator: PublicKey;
  listing: PublicKey;
  /** The creator's USDC account that pays. */
  source: PublicKey;
  /** Base units. */
  amount: bigint;
}

/** Adds to a listing's collateral. Signs: creator. */
export function topUpCollateral(input: TopUpCollateralInput): TransactionInstruction {
  return buildInstruction('top_up_collateral', { ...input, ...collateralOf(input.listing) });
}

export interface ReturnCollateralInput {
  creator: PublicKey;
  listing: PublicKey;
  usdcMint: PublicKey;
  /** As stored in the collateral account. */
  rentSponsor: PublicKey;
}

/**
 * Sends the rest of a delisted listing's collateral to its creator's associated token account, and forfeits to the
 * treasury. Nobody signs.
 */
export function returnCollateral(input: ReturnCollateralInput): TransactionInstruction {
  const destination = findTokenAccount(input.creator, input.usdcMint);
  return buildInstruction('return_collateral', { ...input, ...collateralOf(input.listing), destination });
}

/** Moves the forfeited part of a listing's collateral to the treasury, when nobody can claim it any more. Nobody signs. */
export function sweepForfeits(input: Pick<ReturnCollateralInput, 'listing' | 'rentSponsor'>): TransactionInstruction {
  return buildInstruction('sweep_forfeits', { ...input, ...collateralOf(input.listing) });
}

/** The accounts of a listing's collateral. */
export const collateralOf = (listing: PublicKey) => ({
  collateral: findCollateral(listing),
  collateralVault: findCollateralVault(listing),
});

/**
 * The program as a client sees it: addresses, instruction builders, account readers, error names. Everything is pure and
 * synchronous: no connection, no keypair, nothing is sent. Relay, CLI, local network, dashboard and tests all build
 * their transactions here.
 */
import { createApproveInstruction, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import type { PublicKey } from '@solana/web3.js';
import { Ed25519Program, SYSVAR_INSTRUCTIONS_PUBKEY, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import type { CollateralTier, ListingStatus } from './accounts.ts';
import { coder, PROGRAM_ID, toBorsh } from './accounts.ts';
import {
  findCollateral,
  findCollateralVault,
  findConfig,
  findCreator,
  findEscrow,
  findExecution,
  findGrant,
  findListing,
  findProgramData,
  findSigningKey,
  findSpender,
  findTokenAccount,
  findTreasury,
  REGISTER_DOMAIN,
} from './addresses.ts';
import idlJson from './idl/marketplace.json' with { type: 'json' };

export * from './accounts.ts';
export * from './addresses.ts';

type AccountValues = Record<string, PublicKey>;

/** Every address that is the same for all instructions; an instruction's own accounts come on top. */
const SHARED_ACCOUNTS: AccountValues = {
  config: findConfig(),
  treasury: findTreasury(),
  program_data: findProgramData(),
  instructions: SYSVAR_INSTRUCTIONS_PUBKEY,
  token_program: TOKEN_PROGRAM_ID,
  system_program: SystemProgram.programId,
};

/** Accounts in the IDL's order and with its flags, so that a builder cannot forget or swap one. */
function build(name: string, accounts: AccountValues, args: object): TransactionInstruction {
  const instruction = idlJson.instructions.find((candidate) => candidate.name === name);
  if (!instruction) throw new RangeError(`the program has no instruction ${name}`);
  const given: AccountValues = { ...SHARED_ACCOUNTS, ...accounts };
  const keys = instruction.accounts.map((account) => {
    const pubkey = given[account.name];
    if (!pubkey) throw new RangeError(`${name} needs the account ${account.name}`);
    return {
      pubkey,
      isSigner: 'signer' in account && account.signer === true,
      isWritable: 'writable' in account && account.writable === true,
    };
  });
  const data = coder.instruction.encode(name, instruction.args.length === 0 ? {} : { args: toBorsh(args) });
  return new TransactionInstruction({ programId: PROGRAM_ID, keys, data });
}

export interface InitializeConfigInput {
  /** The program's upgrade authority. */
  authority: PublicKey;
  payer: PublicKey;
  usdcMint: PublicKey;
  admin: PublicKey;
  relayAuthority: PublicKey;
  feeBps: number;
  minPrice: bigint;
  disputeBondLamports: bigint;
  disputeWindowSeconds: number;
  refundGraceSeconds: number;
  maxTimeoutSeconds: number;
  exposureMultiple: number;
  tiers: CollateralTier[];
}

/** Creates the marketplace. Signs: authority, payer. */
export function initializeConfig(input: InitializeConfigInput): TransactionInstruction {
  const { authority, payer, usdcMint, ...args } = input;
  return build('initialize_config', { authority, payer, usdc_mint: usdcMint }, args);
}

export interface SetCreatorVerifiedInput {
  admin: PublicKey;
  payer: PublicKey;
  creator: PublicKey;
  verified: boolean;
}

/** Gives or takes a creator's badge. Signs: admin, payer. */
export function setCreatorVerified(input: SetCreatorVerifiedInput): TransactionInstruction {
  const { admin, payer, creator, verified } = input;
  return build('set_creator_verified', { admin, payer, profile: findCreator(creator) }, { creator, verified });
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
  /** The creator's USDC account that pays the deposit. */
  source: PublicKey;
  payout: PublicKey;
  usdcMint: PublicKey;
  terms: ListingTerms;
}

/** Lists an agent. The instruction before it must prove possession of the signing key. Signs: creator, payer. */
export function listAgent(input: ListAgentInput): TransactionInstruction {
  const { creator, payer, listingId, signingKey, source, payout, usdcMint, terms } = input;
  const listing = findListing(creator, listingId);
  const accounts = {
    creator,
    payer,
    listing,
    signing_key: findSigningKey(signingKey),
    collateral: findCollateral(listing),
    collateral_vault: findCollateralVault(listing),
    source,
    payout,
    usdc_mint: usdcMint,
  };
  return build('list_agent', accounts, { listingId, signingKey, terms });
}

export interface UpdateListingInput {
  creator: PublicKey;
  listing: PublicKey;
  payout: PublicKey;
  terms: ListingTerms;
}

/** Replaces all terms and the payout account. Signs: creator. */
export function updateListing(input: UpdateListingInput): TransactionInstruction {
  const { creator, listing, payout, terms } = input;
  return build('update_listing', { creator, listing, collateral: findCollateral(listing), payout }, { terms });
}

export interface SetListingStatusInput {
  creator: PublicKey;
  listing: PublicKey;
  status: ListingStatus;
}

/** Pauses or resumes a listing. Signs: creator. */
export function setListingStatus(input: SetListingStatusInput): TransactionInstruction {
  const { creator, listing, status } = input;
  const accounts = { creator, listing, collateral: findCollateral(listing) };
  return build('set_listing_status', accounts, { status: variant(status) });
}

export interface GrantLimits {
  perExecutionMax: bigint;
  periodMax: bigint;
  totalMax: bigint;
  periodSeconds: number;
  /** Unix seconds. */
  expiresAt: bigint;
}

export interface CreateGrantInput {
  wallet: PublicKey;
  payer: PublicKey;
  keyId: Uint8Array;
  limits: GrantLimits;
}

/** Gives an API key a capped spending right; it works only beside `approveSpender`. Signs: wallet, payer. */
export function createGrant(input: CreateGrantInput): TransactionInstruction {
  const { wallet, payer, keyId, limits } = input;
  return build('create_grant', { wallet, payer, grant: findGrant(wallet, keyId) }, { keyId, limits });
}

export interface RevokeGrantInput {
  /** The wallet or the relay authority. */
  authority: PublicKey;
  wallet: PublicKey;
  keyId: Uint8Array;
}

/** Ends a key's right for good. Signs: authority. */
export function revokeGrant(input: RevokeGrantInput): TransactionInstruction {
  const { authority, wallet, keyId } = input;
  return build('revoke_grant', { authority, grant: findGrant(wallet, keyId) }, {});
}

export interface OpenTerms {
  /** 16 bytes, random or from an idempotency key. */
  nonce: Uint8Array;
  /** `deriveExecutionId(caller, nonce)`. */
  executionId: Uint8Array;
  maxPrice: bigint;
  listingVersion: number;
  timeoutSeconds: number;
  requestHash: Uint8Array;
  /** Unix seconds after which the open fails. */
  openBefore: bigint;
}

export interface OpenExecutionInput extends OpenTerms {
  caller: PublicKey;
  payer: PublicKey;
  listing: PublicKey;
  /** Any USDC account of the caller. */
  source: PublicKey;
  usdcMint: PublicKey;
}

/** Funds an execution from the caller's own account. Signs: caller, payer. */
export function openExecution(input: OpenExecutionInput): TransactionInstruction {
  const { caller, source } = input;
  return build('open_execution', { caller, source, ...openAccounts(input) }, openArgs(input));
}

export interface OpenExecutionWithGrantInput extends OpenTerms {
  relayAuthority: PublicKey;
  payer: PublicKey;
  listing: PublicKey;
  wallet: PublicKey;
  keyId: Uint8Array;
  usdcMint: PublicKey;
}

/** Funds an execution from a wallet's associated token account by a key's grant. Signs: relay authority, payer. */
export function openExecutionWithGrant(input: OpenExecutionWithGrantInput): TransactionInstruction {
  const { relayAuthority, wallet, keyId, usdcMint } = input;
  const accounts = {
    relay_authority: relayAuthority,
    grant: findGrant(wallet, keyId),
    spender: findSpender(wallet),
    source: findTokenAccount(wallet, usdcMint),
    ...openAccounts(input),
  };
  return build('open_execution_with_grant', accounts, openArgs(input));
}

export interface SettleExecutionInput {
  relayAuthority: PublicKey;
  executionId: Uint8Array;
  listing: PublicKey;
  payout: PublicKey;
  rentSponsor: PublicKey;
  /** 32 bytes. */
  resultHash: Uint8Array;
  executionTimeMs: number;
}

/** Pays creator and marketplace. The instruction before it must be the result's signature. Signs: relay authority. */
export function settleExecution(input: SettleExecutionInput): TransactionInstruction {
  const { relayAuthority, executionId, listing, payout, rentSponsor, resultHash, executionTimeMs } = input;
  const record = findExecution(executionId);
  const accounts = {
    relay_authority: relayAuthority,
    record,
    listing,
    escrow: findEscrow(record),
    payout,
    rent_sponsor: rentSponsor,
  };
  return build('settle_execution', accounts, { resultHash, executionTimeMs });
}

export type RefundReason =
  | 'creatorFailed'
  | 'creatorTimeout'
  | 'invalidAnswer'
  | 'payoutUnusable'
  | 'unserved'
  | 'expired';

/** Reasons by the number that records and events carry. */
export const REFUND_REASONS: readonly RefundReason[] = [
  'creatorFailed',
  'creatorTimeout',
  'invalidAnswer',
  'payoutUnusable',
  'unserved',
  'expired',
];

export interface RefundExecutionInput {
  /** The relay authority, or anyone from `refund_at` on. */
  authority: PublicKey;
  executionId: Uint8Array;
  caller: PublicKey;
  /** As in the record; 16 zero bytes when the wallet opened it itself. */
  keyId: Uint8Array;
  /** The caller's associated token account, or any USDC account of a caller who signs. */
  destination: PublicKey;
  rentSponsor: PublicKey;
  /** Counts only when the relay authority refunds; otherwise it is `expired`. */
  reason: RefundReason;
}

/** Sends an escrow back to its caller. Signs: authority. */
export function refundExecution(input: RefundExecutionInput): TransactionInstruction {
  const { authority, executionId, caller, keyId, destination, rentSponsor, reason } = input;
  const record = findExecution(executionId);
  const accounts = {
    authority,
    record,
    escrow: findEscrow(record),
    destination,
    grant: findGrant(caller, keyId),
    rent_sponsor: rentSponsor,
  };
  return build('refund_execution', accounts, { reason: variant(reason) });
}

/** What a listing's signing key signs to prove that the creator holds it. */
export function registerMessage(listing: PublicKey): Uint8Array {
  return Uint8Array.from(Buffer.concat([REGISTER_DOMAIN, listing.toBytes()]));
}

/** A signature check in the one layout that the program accepts: everything inside the instruction itself. */
export function ed25519Instruction(input: {
  publicKey: Uint8Array;
  message: Uint8Array;
  signature: Uint8Array;
}): TransactionInstruction {
  return Ed25519Program.createInstructionWithPublicKey({ ...input, instructionIndex: 0xffff });
}

/** Lets the wallet's spender address move up to `amount` base units; replaces any delegate. Signs: wallet. */
export function approveSpender(input: {
  wallet: PublicKey;
  usdcMint: PublicKey;
  amount: bigint;
}): TransactionInstruction {
  const { wallet, usdcMint, amount } = input;
  return createApproveInstruction(findTokenAccount(wallet, usdcMint), findSpender(wallet), wallet, amount);
}

export interface ProgramError {
  code: number;
  name: string;
  msg: string;
}

const ERRORS = new Map<number, ProgramError>(
  idlJson.errors.map(({ code, name, msg }) => [
    code,
    { code, name: name.charAt(0).toUpperCase() + name.slice(1), msg },
  ]),
);

/** The program's error of a custom code (6000 and up); null for codes that are not ours. */
export function errorFromCode(code: number): ProgramError | null {
  return ERRORS.get(code) ?? null;
}

function openAccounts(input: OpenTerms & { payer: PublicKey; listing: PublicKey; usdcMint: PublicKey }): AccountValues {
  const record = findExecution(input.executionId);
  return {
    payer: input.payer,
    listing: input.listing,
    collateral: findCollateral(input.listing),
    record,
    escrow: findEscrow(record),
    usdc_mint: input.usdcMint,
  };
}

function openArgs(input: OpenTerms): OpenTerms {
  const { nonce, executionId, maxPrice, listingVersion, timeoutSeconds, requestHash, openBefore } = input;
  return { nonce, executionId, maxPrice, listingVersion, timeoutSeconds, requestHash, openBefore };
}

/** A fieldless enum value as Anchor encodes it. */
function variant(name: string): object {
  return { [name.charAt(0).toUpperCase() + name.slice(1)]: {} };
}

/** Instructions of an execution: open, settle, refund, close. Part of program.ts. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { findCollateral, findEscrow, findExecution, findGrant, findSpender, findTokenAccount } from './addresses.ts';
import { type AccountValues, buildInstruction } from './instruction.ts';

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
  return buildInstruction('open_execution', { caller, source, ...openAccounts(input) }, openArgs(input));
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
  return buildInstruction('open_execution_with_grant', accounts, openArgs(input));
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
  return buildInstruction('settle_execution', accounts, { resultHash, executionTimeMs });
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
  return buildInstruction('refund_execution', accounts, { reason });
}

export interface CloseExecutionInput {
  executionId: Uint8Array;
  /** As in the record. */
  rentSponsor: PublicKey;
}

/** Gives back the rent of a refunded record, 7 days after its open. Nobody signs. */
export function closeExecution({ executionId, rentSponsor }: CloseExecutionInput): TransactionInstruction {
  return buildInstruction('close_execution', { record: findExecution(executionId), rent_sponsor: rentSponsor }, {});
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

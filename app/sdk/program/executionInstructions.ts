/** Instructions of an execution: open, settle, refund, close. Part of program.ts. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  findCollateral,
  findEscrow,
  findExecution,
  findGrant,
  findSpender,
  findSpenderBump,
  findTokenAccount,
} from './addresses.ts';
import { variantsOf } from './idlCodecs.ts';
import type { EnumOf } from './idlValues.ts';
import { buildInstruction } from './instruction.ts';

export interface OpenTerms {
  /** `createNonce(nonceHalfHour(now))`, by the chain's clock: 16 bytes that begin with the half-hour. */
  nonce: Uint8Array;
  /** `deriveExecutionId(caller, nonce)`. */
  executionId: Uint8Array;
  maxPrice: bigint;
  listingVersion: number;
  timeoutSeconds: number;
  requestHash: Uint8Array;
  /** Unix seconds after which the open fails. */
  openBefore: bigint;
  /** Lamports that the record keeps for the end of the execution, at most 100,000. */
  gasLamports: number;
}

export interface OpenExecutionInput extends OpenTerms {
  caller: PublicKey;
  /** Lends the rent and pays the gas. */
  payer: PublicKey;
  /** Receives the rent back: any account that can receive lamports. */
  rentSponsor: PublicKey;
  listing: PublicKey;
  /** Any USDC account of the caller. */
  source: PublicKey;
  usdcMint: PublicKey;
}

/** Funds an execution from the caller's own account. Signs: caller, payer. */
export function openExecution(input: OpenExecutionInput): TransactionInstruction {
  return buildInstruction('open_execution', { ...input, ...openAccounts(input) });
}

export interface OpenExecutionWithGrantInput extends OpenTerms {
  relayAuthority: PublicKey;
  /** Lends the rent that the gas balance does not lend, and gets the fee. */
  payer: PublicKey;
  /**
   * Receives the record's rent back, and the escrow's if the gas balance does not lend it: any account that can receive
   * lamports. If it is `findSpender(wallet)`, the gas balance, it also lends both.
   */
  rentSponsor: PublicKey;
  listing: PublicKey;
  wallet: PublicKey;
  keyId: Uint8Array;
  usdcMint: PublicKey;
  /** Lamports that the gas balance pays to the payer: what the open costs. With the gas at most the grant's limit. */
  feeLamports: number;
  /** The gas balance lends the escrow's rent and gets it back when the escrow closes. */
  spenderLendsEscrow: boolean;
}

/**
 * Funds an execution from a wallet's associated token account with a key's grant. The wallet's gas balance pays fee and
 * gas. Signs: relay authority, payer.
 */
export function openExecutionWithGrant(input: OpenExecutionWithGrantInput): TransactionInstruction {
  const { wallet, keyId, usdcMint } = input;
  return buildInstruction('open_execution_with_grant', {
    ...input,
    ...openAccounts(input),
    grant: findGrant(wallet, keyId),
    spender: findSpender(wallet),
    source: findTokenAccount(wallet, usdcMint),
    open: input,
  });
}

export interface SettleExecutionInput {
  relayAuthority: PublicKey;
  executionId: Uint8Array;
  /** As stored in the record. Its gas balance gets back the escrow's rent if it lent it, and gas if a grant paid. */
  caller: PublicKey;
  listing: PublicKey;
  /** The listing's payout account, or any other USDC account of its creator. */
  payout: PublicKey;
  rentSponsor: PublicKey;
  /** 32 bytes. */
  resultHash: Uint8Array;
  /** 64 bytes: the record's signing key's Ed25519 signature over `sha256:` and the hash in lower-case hex. */
  signature: Uint8Array;
  executionTimeMs: number;
  /** Lamports of the record's gas that the relay authority takes. The rest goes back to its giver. */
  gasLamports: number;
}

/** Pays creator and marketplace, and divides the gas. Signs: relay authority. */
export function settleExecution(input: SettleExecutionInput): TransactionInstruction {
  const record = findExecution(input.executionId);
  const spender = { spender: findSpender(input.caller), spenderBump: findSpenderBump(input.caller) };
  return buildInstruction('settle_execution', { ...input, ...spender, record, escrow: findEscrow(record) });
}

export type RefundReason = EnumOf<'RefundReason'>;

/** Refund reasons; the index is the number in records and events. */
export const REFUND_REASONS = variantsOf('RefundReason') as readonly RefundReason[];

export interface RefundExecutionInput {
  /** A relay authority, which takes its part of the gas, or anyone from `refund_at` on. */
  authority: PublicKey;
  executionId: Uint8Array;
  /** As stored in the record. The refund reduces its exposure. */
  listing: PublicKey;
  caller: PublicKey;
  /** As stored in the record; 16 zero bytes if the wallet opened it itself. */
  keyId: Uint8Array;
  /** The caller's associated token account, or any USDC account of a caller who signs. */
  destination: PublicKey;
  rentSponsor: PublicKey;
  /** Counts only if a relay authority refunds; otherwise the reason is `expired`. */
  reason: RefundReason;
  /**
   * Lamports of the record's gas that a relay authority takes, at most what the record holds. The rest goes back to its
   * giver. Counts only if a relay authority refunds; otherwise all of it goes back.
   */
  gasLamports: number;
}

/** Returns an escrow to its caller. Signs: authority. */
export function refundExecution(input: RefundExecutionInput): TransactionInstruction {
  return buildInstruction('refund_execution', { ...input, ...refundAccounts(input) });
}

/** The derived accounts of both refunds. */
export function refundAccounts(input: Pick<RefundExecutionInput, 'executionId' | 'listing' | 'caller' | 'keyId'>) {
  const { executionId, listing, caller, keyId } = input;
  const record = findExecution(executionId);
  const grant = { grant: findGrant(caller, keyId), spender: findSpender(caller) };
  return { record, escrow: findEscrow(record), collateral: findCollateral(listing), ...grant };
}

export interface CloseExecutionInput {
  executionId: Uint8Array;
  /** As stored in the record. */
  rentSponsor: PublicKey;
}

/**
 * Returns the rent of an ended record. Allowed an hour after the open of a refunded one, and a year after the dispute
 * window of a paid one that nobody archived. Nobody signs.
 */
export function closeExecution(input: CloseExecutionInput): TransactionInstruction {
  return buildInstruction('close_execution', { ...input, record: findExecution(input.executionId) });
}

/** The derived accounts of all opens. */
export function openAccounts({ executionId, listing }: { executionId: Uint8Array; listing: PublicKey }) {
  const record = findExecution(executionId);
  return { record, escrow: findEscrow(record), collateral: findCollateral(listing) };
}

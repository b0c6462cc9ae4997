/**
 * Deposits: payments by plain transfer to an address that commits to the terms of a call. Terms, addresses and
 * instructions. Part of program.ts.
 */
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { findDeposit, findTokenAccount } from './addresses.ts';
import { hashQuote, hashTerms } from './depositHash.ts';
import { type OpenTerms, openAccounts } from './executionInstructions.ts';
import { buildInstruction } from './instruction.ts';

/** The terms of the call that a deposit pays. */
export interface DepositTerms {
  listing: PublicKey;
  listingVersion: number;
  /** 32 bytes. */
  requestHash: Uint8Array;
  timeoutSeconds: number;
  /** 16 bytes, as for an open. */
  nonce: Uint8Array;
}

/** The values that a deposit's address commits to. */
export interface DepositQuote {
  /** The terms, or their hash. */
  terms: DepositTerms | Uint8Array;
  /** The only wallet that may be its caller; null if the quote names none. */
  payer: PublicKey | null;
  /** Base units. */
  price: bigint;
  serviceFee: bigint;
  usdcMint: PublicKey;
}

export interface DepositAddress {
  address: PublicKey;
  /** Its associated token account, which receives price and service fee. */
  vault: PublicKey;
  /** 32 bytes: the seed of the address. */
  hash: Uint8Array;
}

/** The address at which a quote is paid. */
export function depositAddress(quote: DepositQuote): DepositAddress {
  const { terms, payer, price, serviceFee, usdcMint } = quote;
  const hash = hashQuote({ termsHash: termsHashOf(terms), payer: payer?.toBytes() ?? null, price, serviceFee });
  const address = findDeposit(hash);
  return { address, vault: findTokenAccount(address, usdcMint), hash };
}

export interface PrepareDepositInput extends DepositQuote {
  /** A relay authority, or anyone if the quote names its payer and the vault is paid already. */
  authority: PublicKey;
  /** Lends the rent. */
  rentPayer: PublicKey;
  /** Receives the rent back: any account that can receive lamports. */
  rentSponsor: PublicKey;
  /** The buyer. Must be the quote's payer if it names one. */
  caller: PublicKey;
}

/** Creates a deposit and its vault, to be paid within `constants.depositSeconds`. Signs: authority, rent payer. */
export function prepareDeposit(input: PrepareDepositInput): TransactionInstruction {
  const { address: deposit, vault } = depositAddress(input);
  const args = { ...input, termsHash: termsHashOf(input.terms), quotedPayer: quotedPayer(input.payer) };
  return buildInstruction('prepare_deposit', { ...input, payer: input.rentPayer, deposit, vault }, args);
}

export interface OpenExecutionFromDepositInput extends OpenTerms {
  relayAuthority: PublicKey;
  payer: PublicKey;
  rentSponsor: PublicKey;
  listing: PublicKey;
  usdcMint: PublicKey;
  /** From `depositAddress`. */
  deposit: PublicKey;
  /** The payer that the quote named, or null. */
  quotedPayer: PublicKey | null;
  /** As stored in the deposit. */
  depositRentSponsor: PublicKey;
}

/**
 * Funds an execution from a paid deposit. The arguments must be the deposit's terms. `payer` lends the rent and pays
 * the gas. Signs: relay authority, payer.
 */
export function openExecutionFromDeposit(input: OpenExecutionFromDepositInput): TransactionInstruction {
  const vault = findTokenAccount(input.deposit, input.usdcMint);
  const args = { open: input, quotedPayer: quotedPayer(input.quotedPayer) };
  return buildInstruction('open_execution_from_deposit', { ...input, ...openAccounts(input), vault }, args);
}

export interface RefundDepositInput {
  /** A relay authority. Anyone from `expiresAt` on, or a day after `preparedAt` if the deposit is not paid. */
  authority: PublicKey;
  deposit: PublicKey;
  /** The caller's associated token account, or any USDC account of a caller who signs. */
  destination: PublicKey;
  /** As stored in the deposit. */
  rentSponsor: PublicKey;
  usdcMint: PublicKey;
}

/**
 * Sends a deposit back to its caller. If a relay authority refunds a paid one, the service fee goes to the treasury.
 * Signs: authority.
 */
export function refundDeposit(input: RefundDepositInput): TransactionInstruction {
  return buildInstruction('refund_deposit', { ...input, vault: findTokenAccount(input.deposit, input.usdcMint) });
}

const termsHashOf = (terms: DepositTerms | Uint8Array): Uint8Array =>
  terms instanceof Uint8Array ? terms : hashTerms({ ...terms, listing: terms.listing.toBytes() });

const quotedPayer = (payer: PublicKey | null): PublicKey => payer ?? PublicKey.default;

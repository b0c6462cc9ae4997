/**
 * Deposits: payments by plain transfer to an address that commits to the terms of a call. Terms, addresses and
 * instructions. Part of program.ts.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { findDeposit, findTokenAccount } from './addresses.ts';
import { bytesOf, u32, u64 } from './borsh.ts';
import { constantBytes } from './constants.ts';
import { type OpenPlace, type OpenTerms, openAccounts, openArgs } from './executionInstructions.ts';
import { buildInstruction } from './instruction.ts';

const TERMS_DOMAIN = constantBytes('DEPOSIT_TERMS_DOMAIN');
const DEPOSIT_DOMAIN = constantBytes('DEPOSIT_DOMAIN');
const hash32 = bytesOf(32);
const nonce16 = bytesOf(16);

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

/** SHA-256 of the terms. Throws RangeError if a field does not fit its type. */
export function depositTermsHash(terms: DepositTerms): Uint8Array {
  const { listing, listingVersion, requestHash, timeoutSeconds, nonce } = terms;
  return sha256(
    concatBytes(
      TERMS_DOMAIN,
      listing.toBytes(),
      u32.write(listingVersion),
      hash32.write(requestHash),
      u32.write(timeoutSeconds),
      nonce16.write(nonce),
    ),
  );
}

/** The values that a deposit's address commits to. */
export interface DepositQuote {
  /** The terms, or `depositTermsHash` of them. */
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
  const hash = sha256(
    concatBytes(
      DEPOSIT_DOMAIN,
      termsHashOf(terms),
      quotedPayer(payer).toBytes(),
      u64.write(price),
      u64.write(serviceFee),
    ),
  );
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
  const { authority, rentPayer, rentSponsor, caller, usdcMint, terms, payer, price, serviceFee } = input;
  const { address, vault } = depositAddress(input);
  const accounts = {
    authority,
    payer: rentPayer,
    rent_sponsor: rentSponsor,
    deposit: address,
    vault,
    usdc_mint: usdcMint,
  };
  const args = { termsHash: termsHashOf(terms), quotedPayer: quotedPayer(payer), price, serviceFee, caller };
  return buildInstruction('prepare_deposit', accounts, args);
}

export interface OpenExecutionFromDepositInput extends OpenTerms, OpenPlace {
  relayAuthority: PublicKey;
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
  const { relayAuthority, deposit, depositRentSponsor, usdcMint } = input;
  const accounts = {
    relay_authority: relayAuthority,
    deposit,
    vault: findTokenAccount(deposit, usdcMint),
    deposit_rent_sponsor: depositRentSponsor,
    ...openAccounts(input),
  };
  const args = { open: openArgs(input), quotedPayer: quotedPayer(input.quotedPayer) };
  return buildInstruction('open_execution_from_deposit', accounts, args);
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
  const { authority, deposit, destination, rentSponsor, usdcMint } = input;
  const vault = findTokenAccount(deposit, usdcMint);
  return buildInstruction('refund_deposit', { authority, deposit, vault, destination, rent_sponsor: rentSponsor }, {});
}

const termsHashOf = (terms: DepositTerms | Uint8Array): Uint8Array =>
  terms instanceof Uint8Array ? hash32.write(terms) : depositTermsHash(terms);

const quotedPayer = (payer: PublicKey | null): PublicKey => payer ?? PublicKey.default;

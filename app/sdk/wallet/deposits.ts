/** Deposits without the service: anyone can read one, and refund it once it has expired. */
import { hexToBytes } from '@noble/hashes/utils.js';
import type { PublicKey } from '@solana/web3.js';
import * as z from 'zod';
import {
  constants,
  type Deposit,
  depositAddress,
  findTokenAccount,
  parseAddress,
  refundDeposit,
} from '../program/program.ts';
import { formatUsdc } from '../wire/usdc.ts';
import { readAccount, readClock, readTokens } from './connection.ts';
import { formatTime } from './format.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { sendTransaction } from './send.ts';
import type { Signer } from './signer.ts';

const Address = z.string().transform((text, context) => {
  try {
    return parseAddress(text);
  } catch {
    context.addIssue('must be a base58 address');
    return z.NEVER;
  }
});
const U32 = z.int().min(0).max(0xffff_ffff);
const BaseUnits = z
  .string()
  .regex(/^[0-9]{1,19}$/, 'must be base units as decimal text')
  .transform(BigInt);
const hex = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`), `must be ${2 * bytes} lower-case hex digits`)
    .transform(hexToBytes);

/** The values that a deposit's address commits to, named as in `extra` of an x402 quote. Other fields are ignored. */
const QuoteTerms = z.object({
  listing: Address,
  listing_version: U32,
  request_hash: hex(32),
  timeout_seconds: U32,
  nonce: hex(16),
  payer: Address.nullable(),
  price: BaseUnits,
  service_fee: BaseUnits,
});

/** The deposit that a quote is paid to, from the quote's `extra` alone. Throws Refusal if a term is missing. */
export function depositOfQuote({ config }: MarketplaceChain, extra: object): PublicKey {
  const { data, error } = QuoteTerms.safeParse(extra);
  if (!data) {
    const [issue] = error.issues;
    throw new Refusal(`The terms must be \`extra\` of a quote: ${issue?.path.join('.')}: ${issue?.message}.`);
  }
  const { listing, listing_version, request_hash, timeout_seconds, nonce, payer, price, service_fee } = data;
  const terms = {
    listing,
    listingVersion: listing_version,
    requestHash: request_hash,
    timeoutSeconds: timeout_seconds,
    nonce,
  };
  return depositAddress({ terms, payer, price, serviceFee: service_fee, usdcMint: config.usdcMint }).address;
}

/** A deposit and the balance of its vault. */
export async function showDeposit(chain: MarketplaceChain, address: PublicKey) {
  const { deposit, vault, held } = await readDeposit(chain, address);
  return {
    deposit: address.toBase58(),
    vault: vault.toBase58(),
    caller: deposit.caller.toBase58(),
    price_usdc: formatUsdc(deposit.price),
    service_fee_usdc: formatUsdc(deposit.serviceFee),
    held_usdc: formatUsdc(held),
    prepared_at: formatTime(deposit.preparedAt),
    /** Until this time it can become an execution. */
    expires_at: formatTime(deposit.expiresAt),
    /** Time from which anyone can refund it. */
    refundable_at: formatTime(refundableAt(deposit, held)),
    rent_sponsor: deposit.rentSponsor.toBase58(),
  };
}

export interface RefundDepositOptions {
  /** Any wallet, once the deposit has expired. */
  wallet: Signer;
  deposit: PublicKey;
  /** Default: the caller's associated token account. Another account needs the caller's signature. */
  destination?: PublicKey;
}

/** Returns a deposit to its caller. The service fee of a paid deposit is kept only if a relay authority signs. */
export async function refundDepositToCaller(chain: MarketplaceChain, options: RefundDepositOptions) {
  const { connection, config } = chain;
  const { wallet } = options;
  const address = options.deposit;
  const { deposit, held } = await readDeposit(chain, address);
  const { caller, rentSponsor } = deposit;
  const destination = options.destination ?? findTokenAccount(caller, config.usdcMint);
  const now = formatTime(await readClock(connection));
  const accounts = { authority: wallet.publicKey, deposit: address, destination, rentSponsor };
  const instruction = refundDeposit({ ...accounts, usdcMint: config.usdcMint });
  const signature = await sendTransaction(connection, [instruction], wallet, {
    DepositNotExpired: `It can be refunded at ${formatTime(refundableAt(deposit, held))}; the chain's clock shows ${now}.`,
    WrongRefundDestination: `The caller is ${caller}; this wallet is ${wallet.publicKey}.`,
    RefundDestinationUnusable: `The account is ${destination}, of caller ${caller}. Its owner can create it, or name another with its own signature.`,
  });
  return { deposit: address.toBase58(), destination: destination.toBase58(), held_usdc: formatUsdc(held), signature };
}

/** Throws Refusal if the deposit does not exist. */
export async function readDeposit({ connection, config }: MarketplaceChain, address: PublicKey) {
  const missing = `No deposit ${address} exists on this chain: it was never prepared, or it has become an execution or was refunded.`;
  const deposit = await readAccount(connection, 'Deposit', address, missing);
  const vault = findTokenAccount(address, config.usdcMint);
  return { deposit, vault, held: (await readTokens(connection, vault)) ?? 0n };
}

/** Unix seconds from which anyone can refund it: its expiry, or a day after it was prepared if it is not paid. */
export function refundableAt({ price, serviceFee, preparedAt, expiresAt }: Deposit, held: bigint): bigint {
  return held >= price + serviceFee ? expiresAt : preparedAt + BigInt(constants.unfundedDepositSeconds);
}

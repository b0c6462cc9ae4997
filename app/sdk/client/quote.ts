/**
 * Checks an x402 quote before it is paid. A quote names an address to pay. The address is a deposit of the program only
 * if it is derived from all terms of the call. Other x402 clients pay to any address that they get.
 */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import * as v from 'valibot';
import { DEVNET_GENESIS, DEVNET_USDC, MAINNET_GENESIS, MAINNET_USDC } from '../program/clusters.ts';
import { constantBytes, constants } from '../program/constants.ts';
import { hashQuote, hashTerms } from '../program/depositHash.ts';
import { idl } from '../program/idl/idl.ts';
import { deriveAddress } from '../program/programAddress.ts';
import { requestHash } from '../receipt/receipt.ts';
import { ADDRESS } from '../wire/choices.ts';
import { parseUsdc } from '../wire/usdc.ts';

/** The call that the quote must match. */
export interface Purchase {
  agentId: string;
  task: string;
  parameters?: Record<string, unknown> | undefined;
  /** The paying wallet, as in `?payer=` of the request; null if the request named none. */
  payer: string | null;
  /** Maximum cost of the call, USDC, with the service fee. */
  maxCostUsdc: number | string;
  /** As in the request. Default: any, because the listing's timeout applies. */
  timeoutSeconds?: number | undefined;
  /** Default: mainnet. A marketplace on a local network calls itself devnet. */
  network?: 'mainnet' | 'devnet' | undefined;
  /** The mint of USDC. Default: Circle's on this network. */
  asset?: string | undefined;
}

/** The amounts and terms of a checked quote. Amounts are base units: a millionth of a USDC. */
export interface CheckedQuote {
  /** The deposit, which is `payTo` of the quote. */
  deposit: string;
  amount: bigint;
  price: bigint;
  serviceFee: bigint;
  timeoutSeconds: number;
  listingVersion: number;
}

/** The quote is not the marketplace's for this call. Do not pay it. */
export class QuoteRefusedError extends Error {
  override name = 'QuoteRefusedError';
  constructor(
    /** The field of the quote, such as `extra.request_hash`. */
    readonly field: string,
    readonly got: string,
    readonly expected: string,
  ) {
    super(`The quote's ${field} is ${got}, expected ${expected}. Do not pay it.`);
  }
}

const matching = (form: RegExp) => v.pipe(v.string(), v.regex(form));
const isAddress = (text: string): boolean => ADDRESS.test(text) && bs58.decodeUnsafe(text)?.length === 32;
const Address = v.pipe(v.string(), v.check(isAddress));
const U32 = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(2 ** 32 - 1));
const U64 = v.pipe(
  matching(/^(0|[1-9][0-9]{0,19})$/),
  v.transform((text) => BigInt(text)),
  v.check((value) => value < 2n ** 64n),
);

const QuoteShape = v.object({
  scheme: v.literal('exact'),
  network: v.string(),
  amount: U64,
  asset: Address,
  payTo: Address,
  extra: v.object({
    feePayer: Address,
    paymentFlow: v.literal('escrow'),
    listing: Address,
    listing_version: U32,
    request_hash: matching(/^[0-9a-f]{64}$/),
    timeout_seconds: U32,
    nonce: matching(/^[0-9a-f]{32}$/),
    payer: v.nullable(Address),
    price: U64,
    service_fee: U64,
  }),
});
type Quote = v.InferOutput<typeof QuoteShape>;

/** Characters of the genesis hash in a CAIP-2 name. */
const NETWORK_LENGTH = 32;
const NETWORKS = {
  mainnet: { genesis: MAINNET_GENESIS, usdc: MAINNET_USDC },
  devnet: { genesis: DEVNET_GENESIS, usdc: DEVNET_USDC },
};

/**
 * Checks one of the `accepts` of a 402 answer against the requested call. Throws QuoteRefusedError if they differ: then
 * do not pay. Money paid to the address of a checked quote can only fund this call, or come back.
 */
export function checkQuote(quote: unknown, purchase: Purchase): CheckedQuote {
  const { success, output, issues } = v.safeParse(QuoteShape, quote);
  if (!success) throw malformed(issues[0]);
  const { extra, amount } = output;
  const { genesis, usdc } = NETWORKS[purchase.network ?? 'mainnet'];
  const { task, parameters, timeoutSeconds = extra.timeout_seconds } = purchase;
  const expect = (field: string, got: unknown, expected: unknown): void => {
    if (got !== expected) throw new QuoteRefusedError(field, String(got), String(expected));
  };
  expect('network', output.network, `solana:${genesis.slice(0, NETWORK_LENGTH)}`);
  expect('asset', output.asset, purchase.asset ?? usdc);
  expect('extra.listing', extra.listing, purchase.agentId);
  expect('extra.request_hash', extra.request_hash, bytesToHex(requestHash(task, parameters)));
  expect('extra.timeout_seconds', extra.timeout_seconds, timeoutSeconds);
  expect('extra.payer', extra.payer, purchase.payer);
  atMost('extra.service_fee', extra.service_fee, constants.maxServiceFee);
  expect('amount', amount, extra.price + extra.service_fee);
  atMost('amount', amount, parseUsdc(purchase.maxCostUsdc));
  // The fee payer signs the whole transaction and needs SOL.
  if (extra.feePayer === purchase.payer)
    throw new QuoteRefusedError('extra.feePayer', extra.feePayer, 'another wallet');
  const deposit = depositOf(extra);
  expect('payTo', output.payTo, deposit);
  return {
    deposit,
    amount,
    price: extra.price,
    serviceFee: extra.service_fee,
    timeoutSeconds: extra.timeout_seconds,
    listingVersion: extra.listing_version,
  };
}

function malformed(issue: v.BaseIssue<unknown>): QuoteRefusedError {
  const field = issue.path?.map(({ key }) => key).join('.') || 'value';
  return new QuoteRefusedError(field, issue.received, issue.expected ?? 'well-formed');
}

function atMost(field: string, got: bigint, most: bigint): void {
  if (got > most) throw new QuoteRefusedError(field, `${got}`, `at most ${most}`);
}

/** Derives the deposit's address from its terms, as the program does. */
function depositOf(extra: Quote['extra']): string {
  const { price, payer } = extra;
  const termsHash = hashTerms({
    listing: bs58.decode(extra.listing),
    listingVersion: extra.listing_version,
    requestHash: hexToBytes(extra.request_hash),
    timeoutSeconds: extra.timeout_seconds,
    nonce: hexToBytes(extra.nonce),
  });
  const named = payer === null ? null : bs58.decode(payer);
  const hash = hashQuote({ termsHash, payer: named, price, serviceFee: extra.service_fee });
  return bs58.encode(deriveAddress([constantBytes('DEPOSIT_SEED'), hash], bs58.decode(idl.address))[0]);
}

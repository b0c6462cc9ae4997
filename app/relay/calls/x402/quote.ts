/**
 * The quotes of the x402 route. A quote names the deposit to pay, whose address commits to everything that is bought. No
 * quote is stored: its ticket proves that this service made it. Only the client that got the quote knows the ticket.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PublicKey } from '@solana/web3.js';
import { z } from 'zod';
import { DEVNET_GENESIS, MAINNET_GENESIS } from '../../../sdk/program/clusters.ts';
import { depositAddress, parseAddress } from '../../../sdk/program/program.ts';
import { refusePayment } from '../../execution/deposits/buying.ts';

/** Time that the client allows for the answer beyond the agent's timeout. */
const ANSWER_MARGIN_SECONDS = 30;
/** Characters of the genesis hash in a CAIP-2 name. */
const NETWORK_LENGTH = 32;
const TICKET_DOMAIN = 'agent-marketplace:x402-ticket:v1:';
/** Bytes of a nonce after its half-hour. */
export const TAIL_BYTES = 12;
const NONCE_DOMAIN = 'agent-marketplace:x402-nonce:v1:';

/** The keys and settings of sales to x402 clients. */
export interface X402 {
  feePayer: PublicKey;
  usdcMint: PublicKey;
  /** Name by CAIP-2. */
  network: string;
  /** The fee of a quote made now, base units. */
  serviceFee(): bigint;
  /** No quote has a lower fee, base units. */
  leastServiceFee: bigint;
  /** The same for all relays of a ledger, because any of them may get the payment of a quote. */
  secret: Buffer;
  /** Keys of this service, base58, which never pay. */
  ownKeys: readonly string[];
}

/** The call that a quote sells, and its price. */
interface QuoteTerms {
  /** Base58; the agent_id. */
  listing: string;
  listingVersion: number;
  /** Hex. */
  requestHash: string;
  timeoutSeconds: number;
  /** 16 bytes. */
  nonce: Buffer;
  /** Base58; null if the request names none. */
  payer: string | null;
  /** Base units. */
  price: bigint;
  serviceFee: bigint;
}

export interface Quote extends QuoteTerms {
  /** Base58. */
  deposit: string;
  vault: PublicKey;
}

/** Standard clients know only three networks, so a local one is offered as devnet. */
export function networkOf(genesisHash: string): string {
  const genesis = genesisHash === MAINNET_GENESIS ? MAINNET_GENESIS : DEVNET_GENESIS;
  return `solana:${genesis.slice(0, NETWORK_LENGTH)}`;
}

/** The secret of tickets and nonces, derived from the fee payer's key. */
export function secretOf(feePayer: { secretKey: Uint8Array }): Buffer {
  return createHash('sha256').update(`${TICKET_DOMAIN}secret`).update(feePayer.secretKey.subarray(0, 32)).digest();
}

/** The last bytes of a repeatable request's nonce. Nobody else can distinguish them from random ones. */
export function tailFor({ secret }: Pick<X402, 'secret'>, payer: string | null, key: string): Buffer {
  const digest = createHmac('sha256', secret)
    .update(`${NONCE_DOMAIN}${payer ?? ''}:${key}`)
    .digest();
  return digest.subarray(0, TAIL_BYTES);
}

/** Adds the addresses of the deposit and its vault. */
export function quoteOf({ usdcMint }: Pick<X402, 'usdcMint'>, terms: QuoteTerms): Quote {
  const { address, vault } = depositAddress({
    terms: {
      listing: parseAddress(terms.listing),
      listingVersion: terms.listingVersion,
      requestHash: Buffer.from(terms.requestHash, 'hex'),
      timeoutSeconds: terms.timeoutSeconds,
      nonce: terms.nonce,
    },
    payer: terms.payer === null ? null : parseAddress(terms.payer),
    price: terms.price,
    serviceFee: terms.serviceFee,
    usdcMint,
  });
  return { ...terms, deposit: address.toBase58(), vault };
}

const Decimal = z.string().regex(/^\d{1,20}$/);

/** The quote as clients get it and echo it: PaymentRequirements of x402 version 2. */
const Requirements = z.object({
  scheme: z.literal('exact'),
  network: z.string(),
  amount: Decimal,
  asset: z.string(),
  payTo: z.string(),
  maxTimeoutSeconds: z.number(),
  extra: z.object({
    feePayer: z.string(),
    expires_at: z.iso.datetime(),
    paymentFlow: z.literal('escrow'),
    listing: z.string(),
    listing_version: z.int().min(0).max(0xffff_ffff),
    request_hash: z.string().regex(/^[0-9a-f]{64}$/),
    timeout_seconds: z.int().min(0).max(0xffff_ffff),
    nonce: z.string().regex(/^[0-9a-f]{32}$/),
    payer: z.string().nullable(),
    price: Decimal,
    service_fee: Decimal,
    ticket: z.string(),
  }),
});
export type Requirements = z.infer<typeof Requirements>;

/** The part of PaymentPayload that is read. A client without a payment id echoes only the declaration. */
const Payload = z.object({
  x402Version: z.literal(2),
  accepted: Requirements,
  payload: z.object({ transaction: z.string() }),
  extensions: z
    .object({
      'payment-identifier': z
        .object({
          info: z.object({
            id: z
              .string()
              .regex(/^[a-zA-Z0-9_-]{16,128}$/)
              .optional(),
          }),
        })
        .optional(),
    })
    .nullish(),
});

/** A payment as sent, with the quote that it echoes. */
export interface PaidQuote {
  quote: Quote;
  /** Base64. */
  transaction: string;
  paymentId: string | null;
  /** Unix milliseconds, by the clock of the relay that made the quote. */
  expiresMs: number;
}

/** The requirements of a quote, with its ticket. */
export function toRequirements(x402: X402, quote: Quote, expiresMs: number): Requirements {
  const expiresAt = new Date(expiresMs).toISOString();
  return {
    scheme: 'exact',
    network: x402.network,
    amount: String(quote.price + quote.serviceFee),
    asset: x402.usdcMint.toBase58(),
    payTo: quote.deposit,
    maxTimeoutSeconds: quote.timeoutSeconds + ANSWER_MARGIN_SECONDS,
    extra: {
      feePayer: x402.feePayer.toBase58(),
      expires_at: expiresAt,
      paymentFlow: 'escrow',
      listing: quote.listing,
      listing_version: quote.listingVersion,
      request_hash: quote.requestHash,
      timeout_seconds: quote.timeoutSeconds,
      nonce: quote.nonce.toString('hex'),
      payer: quote.payer,
      price: String(quote.price),
      service_fee: String(quote.serviceFee),
      ticket: ticketOf(x402, quote.deposit, expiresAt).toString('base64url'),
    },
  };
}

/** Reads the header PAYMENT-SIGNATURE: a payment of a quote that this service made. Throws ApiError 402. */
export function readPaidQuote(x402: X402, header: string): PaidQuote {
  const { accepted, payload, extensions } = parseHeader(header);
  const { extra } = accepted;
  const expiresMs = Date.parse(extra.expires_at);
  const quote = quoteOf(x402, {
    listing: extra.listing,
    listingVersion: extra.listing_version,
    requestHash: extra.request_hash,
    timeoutSeconds: extra.timeout_seconds,
    nonce: Buffer.from(extra.nonce, 'hex'),
    payer: extra.payer,
    price: BigInt(extra.price),
    serviceFee: BigInt(extra.service_fee),
  });
  // Every field of a quote follows from its terms, so it is made again.
  const own = toRequirements(x402, quote, expiresMs);
  const ticket = Buffer.from(extra.ticket, 'base64url');
  const expected = Buffer.from(own.extra.ticket, 'base64url');
  const isOurs = ticket.length === expected.length && timingSafeEqual(ticket, expected);
  if (!isOurs || !isDeepStrictEqual(accepted, own)) {
    throw refusePayment(
      'payment_invalid',
      'The quote in "accepted" was changed, or is from another service. Send it exactly as received.',
    );
  }
  const paymentId = extensions?.['payment-identifier']?.info.id ?? null;
  return { quote, transaction: payload.transaction, paymentId, expiresMs };
}

function parseHeader(header: string): z.infer<typeof Payload> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    value = null;
  }
  const parsed = Payload.safeParse(value);
  if (parsed.success && isReadable(parsed.data.accepted)) return parsed.data;
  const [issue] = parsed.error?.issues ?? [];
  const where = issue ? ` (${issue.path.map(String).join('.') || 'JSON'}: ${issue.message})` : '';
  const message = `The header PAYMENT-SIGNATURE must be a payment of x402 version 2 with a quote of this service in "accepted"${where}`;
  throw refusePayment('payment_invalid', message);
}

/** True if addresses and numbers are well-formed. The ticket decides later if the quote is ours. */
function isReadable({ extra }: Requirements): boolean {
  const isU64 = (text: string) => BigInt(text) < 2n ** 64n;
  try {
    parseAddress(extra.listing);
    if (extra.payer !== null) parseAddress(extra.payer);
    return [extra.price, extra.service_fee].every(isU64);
  } catch {
    return false;
  }
}

function ticketOf({ secret }: X402, deposit: string, expiresAt: string): Buffer {
  return createHmac('sha256', secret).update(`${TICKET_DOMAIN}${deposit}:${expiresAt}`).digest();
}

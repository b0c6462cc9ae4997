/** The 402 of the x402 route, with a quote: the current cost of the request, and the deposit to pay it into. */
import { createNonce, nonceHalfHour } from '../../../sdk/receipt/receipt.ts';
import { quote } from '../../../sdk/wire/creatorsWords.ts';
import { ERRORS, errorBodyOf } from '../../../sdk/wire/wire.ts';
import type { Agent, AgentDeps } from '../../agents/catalog.ts';
import type { TakeReading } from '../../chain/edgeBudget.ts';
import type { RelaySigner } from '../../chain/signer.ts';
import { ApiError, errorBody } from '../../errors.ts';
import { renderJson } from '../../json.ts';
import { countChangedListings } from '../../ledger/executions.ts';
import type { Databases } from '../../ledger/tables.ts';
import type { Now } from '../../waiting.ts';
import type { CallAnswer } from '../answers.ts';
import { ANY_AGENT, type Bazaar, describeAgent } from './bazaar.ts';
import { encodeHeader } from './paymentResponse.ts';
import { type Quote, quoteOf, type Requirements, tailFor, toRequirements, type X402 } from './quote.ts';

/**
 * Characters of a quote in its header. Clients send it back in one header beside their transaction, in base64 as well.
 * With the largest transaction that is just under the 8 KB that proxies allow.
 */
const MAX_QUOTE_CHARACTERS = 5_632;
/** How long a quote can be paid. A person may approve the payment. */
const QUOTE_MS = 2 * 60 * 1_000;
/** An agent gets no more quotes after this many calls of a day ended because its listing had changed. */
const MAX_CHANGES = 3;
const DAY_MS = 24 * 60 * 60 * 1_000;
const RETRY_CHANGED_SECONDS = 3_600;
/** Declares that a client may give its payment an id, in the format of the extension's package. */
const PAYMENT_IDENTIFIER = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
};

/** Its reads of the chain. */
export interface X402Chain {
  lastHeightOf: RelaySigner['lastHeightOf'];
  /** Takes a reading out of the budget of unpaid requests. */
  takeReading: TakeReading;
  /** Throws ApiError 503 while the fee payer has too little SOL. */
  requireFees(): void;
}

interface OfferDeps extends AgentDeps, Pick<Databases, 'ledger'>, Now {
  accounts: { clock(): bigint };
  baseUrl(): string;
}

/** The request to quote, and the error that the client gets with the quote. */
interface Offer {
  agent: Agent;
  /** The requested path, with its query. */
  url: string;
  payer: string | null;
  /** The Idempotency-Key. */
  key: string | null;
  requestHash: string;
  timeoutSeconds: number;
  error: ApiError;
}

/** 402 with a quote. Throws ApiError 503. */
export async function answerQuote(deps: OfferDeps, x402: X402 & X402Chain, offer: Offer): Promise<CallAnswer> {
  const { agent, error } = offer;
  const changes = await countChangedListings(deps.ledger, agent.listing, deps.now() - DAY_MS);
  if (changes >= MAX_CHANGES) {
    const message = `The agent's listing changed ${changes} times during calls of the last 24 hours, so this service gives no quotes for it now. Retry later.`;
    throw new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_CHANGED_SECONDS });
  }
  x402.requireFees();
  const accepts = [toRequirements(x402, chooseQuote(deps, x402, offer), deps.now() + QUOTE_MS)];
  const encode = (bazaar: Bazaar) => encodeHeader(requiredOf(deps, offer, accepts, bazaar));
  const own = encode(await describeAgent(deps, agent));
  return {
    status: ERRORS.payment_required.status,
    body: [renderJson(errorBodyOf('payment_required'), errorBody(error))],
    headers: { 'PAYMENT-REQUIRED': own.length <= MAX_QUOTE_CHARACTERS ? own : encode(ANY_AGENT) },
  };
}

/** PaymentRequired of x402 version 2. */
function requiredOf(deps: OfferDeps, { agent, url, error }: Offer, accepts: Requirements[], bazaar: Bazaar) {
  return {
    x402Version: 2,
    error: error.message,
    resource: {
      url: `${deps.baseUrl()}${url}`,
      description: `About it, ${quote(agent.metadata.tagline)}`,
      mimeType: 'application/json',
    },
    accepts,
    extensions: { 'payment-identifier': PAYMENT_IDENTIFIER, bazaar },
  };
}

/**
 * With an Idempotency-Key the quote is the same for the same terms in the same half-hour. Its nonce is valid for 25
 * minutes or more, longer than the quote and its deposit live.
 */
function chooseQuote(deps: OfferDeps, x402: X402, offer: Offer): Quote {
  const { agent, payer, key, requestHash, timeoutSeconds } = offer;
  const { listing, listingVersion, price } = agent;
  const serviceFee = x402.serviceFee();
  const tail = key === null ? undefined : tailFor(x402, payer, key);
  const nonce = Buffer.from(createNonce(nonceHalfHour(deps.accounts.clock()), tail));
  return quoteOf(x402, { listing, listingVersion, requestHash, timeoutSeconds, nonce, payer, price, serviceFee });
}

/**
 * POST /v1/x402/agents/{agent_id}/execute: a paid call without a key. The first request gets a quote, the second one
 * brings its payment. The money waits in a deposit, then in the escrow; it is paid for the signed result, or returned.
 */
import { z } from 'zod';
import type { PaymentReason } from '../../../sdk/wire/errorDetails.ts';
import { formatUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { type Agent, requireAgent } from '../../agents/catalog.ts';
import { digestOf } from '../../digest.ts';
import { ApiError, chainUnreadable } from '../../errors.ts';
import type { DepositCall } from '../../execution/contract.ts';
import { refusePayment } from '../../execution/deposits/buying.ts';
import { reused } from '../../execution/standing.ts';
import { invalid, isAddress, parse, readQuery, requireValue } from '../../parse.ts';
import { answerCall, type CallAnswer } from '../answers.ts';
import { readExecuteBody } from '../body.ts';
import { readCall } from '../execute.ts';
import { readIdempotencyKey } from '../idempotency.ts';
import { answerQuote, type X402Chain } from './offer.ts';
import { readPayment } from './payment.ts';
import { withReceipt } from './paymentResponse.ts';
import { type Quote, readPaidQuote, TAIL_BYTES, tailFor, type X402 } from './quote.ts';
import {
  type Asked,
  answerRepeat,
  executionIdOf,
  findOwn,
  type Paid,
  type X402Deps,
  type X402Request,
} from './repeated.ts';

/** Decimals of USDC. */
const DECIMALS = 6;
/** The hash of no request: a request's text is never empty. */
const NO_REQUEST = digestOf('');

export const X402Query = z.strictObject({
  payer: z
    .string()
    .refine((text) => isAddress(text), 'must be the base58 address of a wallet')
    .optional(),
});

/**
 * Answers a request with or without a payment. A repeat gets its answer before the agent is looked up. Throws ApiError,
 * but returns a 402 with a quote.
 */
export async function callByX402(deps: X402Deps, request: X402Request): Promise<CallAnswer> {
  const x402 = requireX402(deps);
  // Catalogues send a request without a body to see the 402.
  if (request.bytes.length === 0 && request.payment === undefined) return answerProbe(deps, x402, request);
  const asked = await readAsked(request);
  let refusal: ApiError | null = null;
  let paid: Paid | null = null;
  try {
    paid = request.payment === undefined ? null : readPaid(x402, asked, String(request.payment));
    const known = paid && (await answerRepeat(deps, x402, asked, paid));
    if (known) return known;
  } catch (error) {
    refusal = orRefusal(error);
  }
  const agent = await requireActive(deps, asked.agentId);
  const call = await readCall(deps, agent, asked.body, request.askFor(paid?.payment.payer ?? null));
  const total = agent.price + (paid?.quote.serviceFee ?? x402.serviceFee());
  if (total > (asked.body.max_cost_usdc ?? total)) throw priceAbove(total, asked.body.max_cost_usdc!);
  try {
    if (refusal) throw refusal;
    if (!paid) throw refusePayment('no_payment', `This call costs ${formatUsdc(total)} USDC`);
    requireCurrent(asked, agent, call.timeoutSeconds, paid.quote);
    requireKeyed(x402, asked, paid.quote);
    const payment = paid;
    const hasPaid = await deps.payers.hasPaid(payment.payment.payer);
    const lastValidHeight = await requireFresh(deps, x402, payment, hasPaid);
    x402.requireFees();
    return await x402.unpaid.limit(request.network, hasPaid, (prepared) =>
      buy(deps, agent, asked, payment, { ...call, lastValidHeight, prepared }),
    );
  } catch (error) {
    const refused = orRefusal(error);
    const { reason } = refused.details as { reason: PaymentReason };
    // With an Idempotency-Key the new quote would be the same one for the rest of its half-hour.
    if (reason === 'quote_used' && asked.key !== null) throw reused(null);
    const { url, payer, key } = asked;
    const { requestHash, timeoutSeconds } = call;
    return answerQuote(deps, x402, { agent, url, payer, key, requestHash, timeoutSeconds, error: refused });
  }
}

/** Throws ApiError 404 if this service does not sell to x402 clients. */
export function requireX402({ x402, noX402 }: Pick<X402Deps, 'x402' | 'noX402'>) {
  if (!x402) throw new ApiError('not_found', `${noX402}. Use an API key.`);
  return x402;
}

async function requireActive(deps: X402Deps, agentId: string): Promise<Agent> {
  const agent = await requireAgent(deps, agentId);
  if (agent.status === 'paused') throw new ApiError('agent_paused', 'The agent is paused');
  return agent;
}

/** The quote shows the price. It cannot be paid, because no request has its hash. */
async function answerProbe(deps: X402Deps, x402: X402 & X402Chain, { agentId, url }: X402Request): Promise<CallAnswer> {
  const { payer = null } = parse(X402Query, readQuery(url), 'query');
  const agent = await requireActive(deps, agentId);
  const { timeoutSeconds, price } = agent;
  const total = formatUsdc(price + x402.serviceFee());
  const error = refusePayment('no_payment', `This call costs ${total} USDC. Send a body with a "task" for its quote.`);
  return answerQuote(deps, x402, { agent, url, payer, key: null, requestHash: NO_REQUEST, timeoutSeconds, error });
}

/** Returns the error if it is a 402 of this route; throws any other. */
function orRefusal(error: unknown): ApiError {
  if (error instanceof ApiError && error.code === 'payment_required') return error;
  throw error;
}

async function readAsked({ agentId, idempotencyKey, url, bytes, askFor }: X402Request): Promise<Asked> {
  const { payer = null } = parse(X402Query, readQuery(url), 'query');
  const key = readIdempotencyKey(idempotencyKey);
  const { body: reading, identity } = await readExecuteBody(askFor(null), { bytes, agentId });
  const body = requireValue(reading);
  if (body.stream) {
    const expected = 'must be false, because a header of the answer has the receipt of the payment';
    throw invalid(`The field "stream" ${expected}`, { in: 'body', path: 'stream', expected, got: 'true' });
  }
  return { agentId, payer, key, identity: identity!, body, url };
}

/** Reads the payment in the header, and checks it as far as its bytes allow. Throws ApiError 402. */
function readPaid(x402: X402, { agentId, payer }: Asked, header: string): Paid {
  const paid = readPaidQuote(x402, header);
  const { quote } = paid;
  if (quote.listing !== agentId || quote.payer !== payer) {
    throw refusePayment('quote_changed', 'The quote is for another agent or payer. Pay the new quote.');
  }
  const payment = readPayment(paid.transaction, {
    feePayer: x402.feePayer,
    usdcMint: x402.usdcMint,
    decimals: DECIMALS,
    vault: quote.vault,
    amount: quote.price + quote.serviceFee,
    payer: quote.payer,
    ownKeys: x402.ownKeys,
  });
  return { ...paid, payment };
}

/** Throws ApiError 402 unless this request would get the same quote now. The service fee is that of the quote. */
function requireCurrent({ identity }: Asked, agent: Agent, timeoutSeconds: number, quote: Quote): void {
  const isSame =
    quote.requestHash === identity.requestHash &&
    quote.timeoutSeconds === timeoutSeconds &&
    quote.listingVersion === agent.listingVersion &&
    quote.price === agent.price;
  if (isSame) return;
  throw refusePayment(
    'quote_changed',
    'The quote is for another request, or the agent has changed since. Pay the new quote.',
  );
}

/** Throws ApiError 402 if the quote was given without this Idempotency-Key: a repeat would not find the call by it. */
function requireKeyed(x402: X402, { payer, key }: Asked, { nonce }: Quote): void {
  if (key === null || nonce.subarray(-TAIL_BYTES).equals(tailFor(x402, payer, key))) return;
  const message =
    'The quote was given without this Idempotency-Key. Send the key with both requests. Pay the new quote.';
  throw refusePayment('quote_changed', message);
}

/** The last block height at which the payment can land. Throws ApiError 402 or 503. */
async function requireFresh(
  { now }: Pick<X402Deps, 'now'>,
  x402: X402Chain,
  { payment, expiresMs }: Paid,
  hasPaid: boolean,
): Promise<bigint> {
  if (now() > expiresMs) throw refusePayment('quote_expired', 'The quote has expired. Pay the new quote.');
  // This asks the node, and a payment from an empty wallet costs nothing.
  if (!hasPaid) await x402.takeReading();
  const lastHeight = await x402.lastHeightOf(payment.blockhash).catch(chainUnreadable);
  if (lastHeight !== null) return lastHeight;
  throw refusePayment('quote_expired', 'The blockhash of the payment is not valid. Pay the new quote with a new one.');
}

type Call = Omit<Awaited<ReturnType<typeof readCall>>, 'maxCost'> & Pick<DepositCall, 'lastValidHeight' | 'prepared'>;

async function buy(deps: X402Deps, agent: Agent, { identity }: Asked, paid: Paid, call: Call): Promise<CallAnswer> {
  const { quote, payment, paymentId } = paid;
  const executionId = executionIdOf(payment, quote.nonce);
  const { requestHash } = quote;
  const bought: DepositCall = {
    task: call.task,
    parameters: call.parameters,
    requestHash,
    async: call.async,
    timeoutSeconds: call.timeoutSeconds,
    payer: payment.payer,
    fingerprint: identity.fingerprint,
    nonce: quote.nonce,
    deposit: quote.deposit,
    namesPayer: quote.payer !== null,
    serviceFee: quote.serviceFee,
    paymentId,
    payment: payment.bytes,
    lastValidHeight: call.lastValidHeight,
    prepared: call.prepared,
  };
  const buyFirst = () =>
    deps.engine.buy(agent, bought).catch(async (error) => {
      // Two wallets that pay one quote at once both pass the checks; one of them gets the deposit.
      await findOwn(deps, paid);
      throw error;
    });
  return withReceipt(deps, executionId, () => answerCall(deps, buyFirst));
}

function priceAbove(total: bigint, most: bigint): ApiError {
  const message = `The call costs ${formatUsdc(total)} USDC, more than max_cost_usdc, ${formatUsdc(most)} USDC. Raise max_cost_usdc to pay it.`;
  const details = { price_usdc: toUsdc(total), max_cost_usdc: toUsdc(most) };
  return new ApiError('price_changed', message, { details });
}

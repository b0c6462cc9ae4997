/**
 * POST /v1/x402/agents/{agent_id}/execute: a paid call without a key. The first request gets a quote, the second one
 * brings its payment. The money waits in a deposit, then in the escrow; it is paid for the signed result, or returned.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseAddress } from '../../../sdk/program/program.ts';
import { deriveExecutionId, formatUuid } from '../../../sdk/receipt/receipt.ts';
import type { PaymentReason } from '../../../sdk/wire/errorCodes.ts';
import { formatUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import type { ExecuteBody } from '../../../sdk/wire/wire.ts';
import { type Agent, requireAgent } from '../../agents/catalog.ts';
import { ApiError, chainUnreadable } from '../../errors.ts';
import { refusePayment } from '../../execution/buying.ts';
import type { DepositCall, Engine } from '../../execution/contract.ts';
import { reused } from '../../execution/standing.ts';
import {
  type DepositCall as DepositRow,
  readByDeposit,
  readByPayment,
  readDepositCall,
  readIdByTail,
} from '../../ledger/executions.ts';
import type { Payers } from '../../ledger/payers.ts';
import { invalid, isAddress, parse, readQuery, requireValue } from '../../parse.ts';
import type { Ask } from '../../workers.ts';
import { answerFirst, answerKnown, type CallAnswer } from '../answers.ts';
import { type BodyIdentity, type Canonical, readExecuteBody } from '../body.ts';
import { type ExecuteDeps, readCall } from '../execute.ts';
import { type Repeatable, readIdempotencyKey } from '../idempotency.ts';
import { findLost, refuseByRecord } from '../repeats.ts';
import { answerQuote, type DoorChain } from './offer.ts';
import { type Payment, readPayment } from './payment.ts';
import { withReceipt } from './paymentResponse.ts';
import { type Door, type PaidQuote, type Quote, readPaidQuote, tailFor } from './quote.ts';
import type { UnpaidLimit } from './unpaid.ts';

/** Decimals of USDC. */
const DECIMALS = 6;
/** The hash of no request: a request's text is never empty. */
const NO_REQUEST = createHash('sha256').digest('hex');

export interface DoorDeps extends ExecuteDeps {
  engine: ExecuteDeps['engine'] & Pick<Engine, 'buy'>;
  /** Null if this service does not sell to x402 clients. */
  door: (Door & DoorChain & { unpaid: UnpaidLimit }) | null;
  /** Why there is none. */
  noDoor: string;
  payers: Pick<Payers, 'hasPaid'>;
}

export interface DoorRequest {
  agentId: string;
  /** The header Idempotency-Key. */
  idempotencyKey: string | string[] | undefined;
  /** The header PAYMENT-SIGNATURE. */
  payment: string | string[] | undefined;
  url: string;
  bytes: Buffer;
  /** The asker of work in threads, for a proven wallet or null. */
  askFor(wallet: string | null): Ask;
  /** The network of the client's address. */
  network: string;
}

export const DoorQuery = z.strictObject({
  payer: z
    .string()
    .refine((text) => isAddress(text), 'must be the base58 address of a wallet')
    .optional(),
});

/** A request with everything that can be read without the agent. */
interface Asked extends Pick<DoorRequest, 'agentId' | 'url'> {
  payer: string | null;
  key: string | null;
  identity: BodyIdentity;
  body: Canonical<ExecuteBody>;
}

/** A well-formed payment of a quote that this service made. */
interface Paid extends PaidQuote {
  payment: Payment;
}

/**
 * Answers a request with or without a payment. A repeat gets its answer before the agent is looked up. Throws ApiError,
 * but returns a 402 with a quote.
 */
export async function enterDoor(deps: DoorDeps, request: DoorRequest): Promise<CallAnswer> {
  const door = requireDoor(deps);
  // Catalogues send a request without a body to see the 402.
  if (request.bytes.length === 0 && request.payment === undefined) return answerProbe(deps, door, request);
  const asked = await readAsked(request);
  let refusal: ApiError | null = null;
  let paid: Paid | null = null;
  try {
    paid = request.payment === undefined ? null : readPaid(door, asked, String(request.payment));
    const known = paid && (await answerRepeat(deps, door, asked, paid));
    if (known) return known;
  } catch (error) {
    refusal = orRefusal(error);
  }
  const agent = await requireActive(deps, asked.agentId);
  const call = await readCall(deps, agent, asked.body, request.askFor(paid?.payment.payer ?? null));
  const total = agent.price + (paid?.quote.serviceFee ?? door.serviceFee());
  if (total > (asked.body.max_cost_usdc ?? total)) throw priceAbove(total, asked.body.max_cost_usdc!);
  try {
    if (refusal) throw refusal;
    if (!paid) throw refusePayment('no_payment', `This call costs ${formatUsdc(total)} USDC`);
    requireCurrent(asked, agent, call.timeoutSeconds, paid.quote);
    const payment = paid;
    const hasPaid = await deps.payers.hasPaid(payment.payment.payer);
    const lastValidHeight = await requireFresh(deps, door, payment, hasPaid);
    door.requireFees();
    return await door.unpaid.limit(request.network, hasPaid, (prepared) =>
      buy(deps, agent, asked, payment, { ...call, lastValidHeight, prepared }),
    );
  } catch (error) {
    const refused = orRefusal(error);
    const { reason } = refused.details as { reason: PaymentReason };
    // With an Idempotency-Key the new quote would be the same one for the rest of its half-hour.
    if (reason === 'quote_used' && asked.key !== null) throw reused(null);
    const { url, payer, key } = asked;
    const { requestHash, timeoutSeconds } = call;
    return answerQuote(deps, door, { agent, url, payer, key, requestHash, timeoutSeconds, error: refused });
  }
}

/** Throws ApiError 404 if this service does not sell to x402 clients. */
export function requireDoor({ door, noDoor }: Pick<DoorDeps, 'door' | 'noDoor'>) {
  if (!door) throw new ApiError('not_found', `${noDoor}. Use an API key.`);
  return door;
}

async function requireActive(deps: DoorDeps, agentId: string): Promise<Agent> {
  const agent = await requireAgent(deps, agentId);
  if (agent.status === 'paused') throw new ApiError('agent_paused', 'The creator has paused the agent');
  return agent;
}

/** The quote shows the price. It cannot be paid, because no request has its hash. */
async function answerProbe(deps: DoorDeps, door: Door & DoorChain, { agentId, url }: DoorRequest): Promise<CallAnswer> {
  const { payer = null } = parse(DoorQuery, readQuery(url), 'query');
  const agent = await requireActive(deps, agentId);
  const { timeoutSeconds, price } = agent;
  const total = formatUsdc(price + door.serviceFee());
  const error = refusePayment('no_payment', `This call costs ${total} USDC. Send a body with a "task" for its quote.`);
  return answerQuote(deps, door, { agent, url, payer, key: null, requestHash: NO_REQUEST, timeoutSeconds, error });
}

/** Returns the error if it is a 402 of this door; throws any other. */
function orRefusal(error: unknown): ApiError {
  if (error instanceof ApiError && error.code === 'payment_required') return error;
  throw error;
}

async function readAsked({ agentId, idempotencyKey, url, bytes, askFor }: DoorRequest): Promise<Asked> {
  const { payer = null } = parse(DoorQuery, readQuery(url), 'query');
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
function readPaid(door: Door, { agentId, payer }: Asked, header: string): Paid {
  const paid = readPaidQuote(door, header);
  const { quote } = paid;
  if (quote.listing !== agentId || quote.payer !== payer) {
    throw refusePayment('quote_changed', 'The quote is for another agent or payer. Pay the new quote.');
  }
  const payment = readPayment(paid.transaction, {
    feePayer: door.feePayer,
    usdcMint: door.usdcMint,
    decimals: DECIMALS,
    vault: quote.vault,
    amount: quote.price + quote.serviceFee,
    payer: quote.payer,
    ownKeys: door.ownKeys,
  });
  return { ...paid, payment };
}

/**
 * The answer to a repeated payment, found by its deposit, its Idempotency-Key or the client's payment id. Its ticket and
 * its payer's signature prove its owner. Null for a first payment, and for one that never paid. Throws ApiError.
 */
async function answerRepeat(deps: DoorDeps, door: Door, asked: Asked, paid: Paid): Promise<CallAnswer | null> {
  const { identity, body } = asked;
  const { quote, payment, paymentId } = paid;
  const byDeposit = await findOwn(deps, paid);
  const first = byDeposit ?? (await readByKey(deps, door, asked, payment));
  const byId = paymentId === null ? undefined : await readByPayment(deps.ledger, payment.payer, paymentId);
  const row = first ?? byId;
  if (!row) {
    await refuseLost(deps, door, asked, payment);
    const executionId = executionIdOf(payment, quote.nonce);
    const request = { executionId, wallet: payment.payer, listing: quote.listing, ...identity, async: false };
    if (quote.requestHash === identity.requestHash) await refuseByRecord(deps, request, quote.deposit);
    return null;
  }
  const isSame = row.listing === quote.listing && row.request_hash === identity.requestHash;
  if (!first && !isSame) throw otherRequest();
  return withReceipt(deps, row.execution_id, () => answerKnown(deps, repeatableOf(row, identity, body.async)));
}

/** The payer's call with the deposit of this quote. Throws ApiError 402 if another wallet has it. */
async function findOwn(
  { ledger }: Pick<DoorDeps, 'ledger'>,
  { quote, payment }: Paid,
): Promise<DepositRow | undefined> {
  const row = await readByDeposit(ledger, quote.deposit);
  if (row && row.wallet !== payment.payer) {
    throw refusePayment('quote_used', 'Another wallet has paid this quote. Pay the new quote.');
  }
  return row;
}

/** The payer's call with this Idempotency-Key. If the listing has changed since, its deposit is another one. */
async function readByKey(
  { ledger }: DoorDeps,
  door: Door,
  { payer, key }: Asked,
  payment: Payment,
): Promise<DepositRow | undefined> {
  const id = key === null ? null : await readIdByTail(ledger, payment.payer, tailFor(door, payer, key));
  return id === null ? undefined : readDepositCall(ledger, id);
}

/** Refuses a request whose Idempotency-Key has an execution that only the chain knows, with the error of its end. */
async function refuseLost(deps: DoorDeps, door: Door, asked: Asked, { payer }: Payment): Promise<void> {
  const { key, agentId: listing, identity } = asked;
  if (key === null) return;
  const tail = tailFor(door, asked.payer, key);
  const lost = await findLost(deps, { wallet: payer, listing, tail, ...identity });
  if (lost) await refuseByRecord(deps, lost);
}

const executionIdOf = ({ payer }: Payment, nonce: Uint8Array): string =>
  formatUuid(deriveExecutionId(parseAddress(payer).toBytes(), nonce));

const repeatableOf = (row: DepositRow, identity: BodyIdentity, async: boolean): Repeatable => ({
  executionId: row.execution_id,
  wallet: row.wallet,
  listing: row.listing,
  fingerprint: identity.fingerprint,
  requestHash: identity.requestHash,
  async,
});

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

/** The last block height at which the payment can land. Throws ApiError 402 or 503. */
async function requireFresh(
  { now }: Pick<DoorDeps, 'now'>,
  door: DoorChain,
  { payment, expiresMs }: Paid,
  hasPaid: boolean,
): Promise<bigint> {
  if (now() > expiresMs) throw refusePayment('quote_expired', 'The quote has expired. Pay the new quote.');
  // This asks the node, and a payment from an empty wallet costs nothing.
  if (!hasPaid) await door.takeReading();
  const lastHeight = await door.lastHeightOf(payment.blockhash).catch(chainUnreadable);
  if (lastHeight !== null) return lastHeight;
  throw refusePayment('quote_expired', 'The blockhash of the payment is not valid. Pay the new quote with a new one.');
}

type Call = Omit<Awaited<ReturnType<typeof readCall>>, 'maxCost'> & Pick<DepositCall, 'lastValidHeight' | 'prepared'>;

async function buy(deps: DoorDeps, agent: Agent, { identity }: Asked, paid: Paid, call: Call): Promise<CallAnswer> {
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
  return withReceipt(deps, executionId, () => answerFirst(deps, buyFirst));
}

/** The 409 for a payment id that was used with another request. */
function otherRequest(): ApiError {
  const message = 'This id of payment-identifier was used with another request. Use a new id for a new payment.';
  return new ApiError('payment_id_reused', message);
}

function priceAbove(total: bigint, most: bigint): ApiError {
  const message = `The call costs ${formatUsdc(total)} USDC, more than max_cost_usdc, ${formatUsdc(most)} USDC. Raise max_cost_usdc to pay it.`;
  const details = { price_usdc: toUsdc(total), max_cost_usdc: toUsdc(most) };
  return new ApiError('price_changed', message, { details });
}

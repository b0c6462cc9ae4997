/** The answer to a repeated payment of an x402 client, from the ledger or from the chain. */
import { parseAddress } from '../../../sdk/program/program.ts';
import { deriveExecutionId, formatUuid } from '../../../sdk/receipt/receipt.ts';
import type { ExecuteBody } from '../../../sdk/wire/wire.ts';
import { ApiError } from '../../errors.ts';
import type { Engine } from '../../execution/contract.ts';
import { refusePayment } from '../../execution/deposits/buying.ts';
import {
  type DepositCall,
  readByDeposit,
  readByPayment,
  readDepositCall,
  readIdByTail,
} from '../../ledger/executions.ts';
import type { Payers } from '../../ledger/payers.ts';
import type { Now } from '../../waiting.ts';
import type { Ask } from '../../workers.ts';
import { answerKnown, type CallAnswer } from '../answers.ts';
import type { BodyIdentity, Canonical } from '../body.ts';
import type { ExecuteDeps } from '../execute.ts';
import type { Repeatable } from '../idempotency.ts';
import { findLost, refuseByRecord } from '../repeats.ts';
import type { X402Chain } from './offer.ts';
import type { Payment } from './payment.ts';
import { withReceipt } from './paymentResponse.ts';
import { type PaidQuote, tailFor, type X402 } from './quote.ts';
import type { UnpaidLimit } from './unpaid.ts';

export interface X402Deps extends ExecuteDeps, Now {
  engine: ExecuteDeps['engine'] & Pick<Engine, 'buy'>;
  /** Null if this service does not sell to x402 clients. */
  x402: (X402 & X402Chain & { unpaid: UnpaidLimit }) | null;
  /** Why there is none. */
  noX402: string;
  payers: Pick<Payers, 'hasPaid'>;
}

export interface X402Request {
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

/** A request with everything that can be read without the agent. */
export interface Asked extends Pick<X402Request, 'agentId' | 'url'> {
  payer: string | null;
  key: string | null;
  identity: BodyIdentity;
  body: Canonical<ExecuteBody>;
}

/** A well-formed payment of a quote that this service made. */
export interface Paid extends PaidQuote {
  payment: Payment;
}

/**
 * The answer to a repeated payment, found by its deposit, its Idempotency-Key or the client's payment id. Its ticket and
 * its payer's signature prove its owner. Null for a first payment, and for one that never paid. Throws ApiError.
 */
export async function answerRepeat(deps: X402Deps, x402: X402, asked: Asked, paid: Paid): Promise<CallAnswer | null> {
  const { identity, body } = asked;
  const { quote, payment, paymentId } = paid;
  const byDeposit = await findOwn(deps, paid);
  const first = byDeposit ?? (await readByKey(deps, x402, asked, payment));
  const byId = paymentId === null ? undefined : await readByPayment(deps.ledger, payment.payer, paymentId);
  const row = first ?? byId;
  if (!row) {
    await refuseLost(deps, x402, asked, payment);
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
export async function findOwn(
  { ledger }: Pick<X402Deps, 'ledger'>,
  { quote, payment }: Paid,
): Promise<DepositCall | undefined> {
  const row = await readByDeposit(ledger, quote.deposit);
  if (row && row.wallet !== payment.payer) {
    throw refusePayment('quote_used', 'Another wallet has paid this quote. Pay the new quote.');
  }
  return row;
}

/** The payer's call with this Idempotency-Key. If the listing has changed since, its deposit is another one. */
async function readByKey(
  { ledger }: X402Deps,
  x402: X402,
  { payer, key }: Asked,
  payment: Payment,
): Promise<DepositCall | undefined> {
  const id = key === null ? null : await readIdByTail(ledger, payment.payer, tailFor(x402, payer, key));
  return id === null ? undefined : readDepositCall(ledger, id);
}

/** Refuses a request whose Idempotency-Key has an execution that only the chain knows, with the error of its end. */
async function refuseLost(deps: X402Deps, x402: X402, asked: Asked, { payer }: Payment): Promise<void> {
  const { key, agentId: listing, identity } = asked;
  if (key === null) return;
  const tail = tailFor(x402, asked.payer, key);
  const lost = await findLost(deps, { wallet: payer, listing, tail, ...identity });
  if (lost) await refuseByRecord(deps, lost);
}

export const executionIdOf = ({ payer }: Payment, nonce: Uint8Array): string =>
  formatUuid(deriveExecutionId(parseAddress(payer).toBytes(), nonce));

const repeatableOf = (row: DepositCall, identity: BodyIdentity, async: boolean): Repeatable => ({
  executionId: row.execution_id,
  wallet: row.wallet,
  listing: row.listing,
  fingerprint: identity.fingerprint,
  requestHash: identity.requestHash,
  async,
});

/** The 409 for a payment id that was used with another request. */
function otherRequest(): ApiError {
  const message = 'This id of payment-identifier was used with another request. Use a new id for a new payment.';
  return new ApiError('payment_id_reused', message);
}

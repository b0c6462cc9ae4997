/** Reports the outcome of a payment to its client: the header PAYMENT-RESPONSE of x402 version 2. */
import { findExecution } from '../../../sdk/program/program.ts';
import { parseUuid } from '../../../sdk/receipt/receipt.ts';
import type { ErrorCode } from '../../../sdk/wire/wire.ts';
import { ApiError } from '../../errors.ts';
import { type DepositCall, readDepositCall } from '../../ledger/executions.ts';
import type { Databases } from '../../ledger/tables.ts';
import { answerError, type CallAnswer } from '../answers.ts';
import type { X402 } from './quote.ts';

const RETRY_SECONDS = 1;
/** Errors that do not report on a taken payment. */
const UNPAID: readonly ErrorCode[] = ['payment_required', 'request_in_progress', 'idempotency_key_reused'];

interface ReceiptDeps extends Pick<Databases, 'ledger'> {
  x402: Pick<X402, 'network'> | null;
}

/** Headers of x402 are JSON in base64. */
export const encodeHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

/**
 * Adds PAYMENT-RESPONSE to the answer or the error of a paid execution. Throws all other errors.
 */
export async function withReceipt<Answer extends CallAnswer | null>(
  deps: ReceiptDeps,
  executionId: string,
  run: () => Promise<Answer>,
): Promise<Answer | CallAnswer> {
  try {
    const answer = await run();
    return answer && (await toPaidAnswer(deps, executionId, answer));
  } catch (error) {
    // The error may be about another execution, or about none.
    if (!(error instanceof ApiError) || error.executionId !== executionId) throw error;
    if (UNPAID.includes(error.code)) throw error;
    return toPaidAnswer(deps, executionId, answerError(error));
  }
}

async function toPaidAnswer(deps: ReceiptDeps, executionId: string, answer: CallAnswer): Promise<CallAnswer> {
  const row = await readDepositCall(deps.ledger, executionId);
  if (!row?.pay_signature) return answer;
  const isRunning = answer.status < 300 && row.state !== 'settled';
  // A result that is no longer here was paid too.
  const success = answer.status < 300 || row.state === 'settled';
  const headers: Record<string, string> = {
    ...answer.headers,
    'PAYMENT-RESPONSE': encodeHeader(receiptOf(deps.x402!.network, row, success)),
  };
  if (!isRunning) return { ...answer, headers };
  const more = { Location: `/v1/executions/${executionId}`, 'Retry-After': String(RETRY_SECONDS) };
  return { ...answer, status: 202, headers: { ...headers, ...more } };
}

/** The SettleResponse of x402. */
function receiptOf(network: string, row: DepositCall, success: boolean) {
  return {
    success,
    ...(!success && { errorReason: 'refunded' }),
    transaction: row.pay_signature!,
    network,
    payer: row.wallet,
    amount: String(row.price + row.service_fee),
    extensions: {
      execution: {
        execution_id: row.execution_id,
        record: findExecution(parseUuid(row.execution_id)!).toBase58(),
        deposit: row.deposit,
        refund_transaction: row.refund_signature,
      },
    },
  };
}

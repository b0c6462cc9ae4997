/** Builds the caller's answer for an execution from its row. */
import { ApiError } from '../errors.ts';
import type { Journal } from '../ledger/journal.ts';
import type { JournalRow } from '../ledger/tables.ts';
import { landedOf, transactionsOf } from '../ledger/transactions.ts';
import type { ReadText } from '../outbound/resultObjects.ts';
import type { ExecuteOutcome } from './contract.ts';
import type { Progress } from './deps.ts';
import { lostResult, standingOf } from './standing.ts';

/** Retry delay for a call that the marketplace could not serve. */
const RETRY_SECONDS = 5;

const NOTHING_PAID = 'The call was interrupted. Nothing was charged.';

/** The sources of an outcome. */
interface OutcomeDeps {
  journal: Pick<Journal, 'get' | 'result'>;
  readText: ReadText;
}

/** The answer for a row as it is now. Throws the ApiError that the row ended with. */
export async function outcomeOf(
  { journal, readText }: OutcomeDeps,
  executionId: string,
  progress: Progress,
): Promise<ExecuteOutcome> {
  const row = progress.ended ?? (await journal.get(executionId));
  // If a killed database forgot a row, the row never had an open: storing the open would have kept it.
  if (!row) throw new ApiError('service_unavailable', NOTHING_PAID, { retryAfterSeconds: RETRY_SECONDS });
  if (row.state === 'settled') {
    const result = progress.result ?? (await journal.result(executionId));
    const text = result && row.content_deleted_ms === null ? await readText(result) : null;
    const settle = landedOf(row, 'settle') ?? transactionsOf(row, 'settle').at(-1);
    if (!result || !text || !settle) throw lostResult(executionId);
    return {
      kind: 'completed',
      executionId,
      result: text,
      resultHash: result.result_hash,
      price: row.price,
      tokensUsed: result.tokens_used === null ? null : Number(result.tokens_used),
      executionTimeMs: Number(result.execution_time_ms),
      settleSignature: settle.signature,
      resultToken: result.token,
    };
  }
  if (progress.refused) throw progress.refused;
  // A call has not ended while its refund is on its way.
  if (row.state === 'void' || standingOf(row) === 'ended') {
    const code = (row.error_code ?? 'execution_failed') as 'execution_failed';
    const message = refundText(code, row.error_message ?? 'The call failed', row);
    if (row.error_code === 'payment_required') {
      throw new ApiError('payment_required', message, { executionId, details: { reason: 'payment_failed' } });
    }
    // Its details are not stored.
    if (row.error_code === 'invalid_request') {
      throw new ApiError('invalid_request', message, { executionId, details: { issues: [] } });
    }
    throw new ApiError(code, message, {
      executionId,
      retryAfterSeconds: row.error_code === 'service_unavailable' ? RETRY_SECONDS : undefined,
    });
  }
  return { kind: 'running', executionId };
}

/** A void call has paid nothing, so nothing was refunded. */
function refundText(
  code: string,
  message: string,
  { state: at, refund_state: state }: Pick<JournalRow, 'state' | 'refund_state'>,
): string {
  if (at === 'void') return message;
  const why =
    'the USDC account of your wallet is missing or frozen. It is sent once that account can receive. An hour after ' +
    'the call can be refunded by anyone it becomes unclaimed, and you claim it.';
  const sentence = message.replace(/\.$/, '');
  if (state === 'waiting') return `${sentence}. The refund waits, because ${why}`;
  if (at === 'returned') return `${sentence}. The payment was sent back.`;
  return code === 'service_unavailable' || code === 'payment_required' ? message : `${sentence}. Escrow refunded`;
}

/** What a caller is answered for an execution, by its row. */
import { ApiError } from '../errors.ts';
import type { Journal } from '../ledger/journal.ts';
import type { ReadText } from '../outbound/resultObjects.ts';
import type { ExecuteOutcome } from './contract.ts';
import { lostResult, standingOf } from './standing.ts';
import type { Live } from './step.ts';

/** When a call that the marketplace could not serve may come again. */
const RETRY_SECONDS = 5;

const NOTHING_PAID = 'The call was interrupted before anything was paid';

/** What an outcome is read from. */
interface OutcomeDeps {
  journal: Pick<Journal, 'get' | 'result'>;
  readText: ReadText;
}

/** The answer for a row as it is now. Throws ApiError: the error that it ended with. */
export async function outcomeOf(
  { journal, readText }: OutcomeDeps,
  executionId: string,
  live: Live,
): Promise<ExecuteOutcome> {
  const row = live.ended ?? (await journal.get(executionId));
  // A row that the database forgot when it was killed never had an open, whose storing would have kept it.
  if (!row) throw new ApiError('service_unavailable', NOTHING_PAID, { retryAfterSeconds: RETRY_SECONDS });
  if (row.state === 'settled') {
    const result = live.result ?? (await journal.result(executionId));
    const text = result ? await readText(result) : null;
    if (!result || !text || row.settle_signature === null) throw lostResult(executionId);
    return {
      kind: 'completed',
      executionId,
      result: text,
      resultHash: result.result_hash,
      price: row.price,
      tokensUsed: result.tokens_used === null ? null : Number(result.tokens_used),
      executionTimeMs: Number(result.execution_time_ms),
      settleSignature: row.settle_signature,
      resultToken: result.token,
    };
  }
  if (live.refused) throw live.refused;
  // While its refund is on its way it has not ended.
  if (row.state === 'void' || standingOf(row) === 'ended') {
    const code = (row.error_code ?? 'execution_failed') as 'execution_failed';
    throw new ApiError(code, refundText(code, row.error_message ?? 'The execution failed', row.refund_state), {
      executionId,
      retryAfterSeconds: row.error_code === 'service_unavailable' ? RETRY_SECONDS : undefined,
    });
  }
  return { kind: 'running', executionId };
}

function refundText(code: string, message: string, state: string | null): string {
  const why = state === 'claimable' ? 'your USDC account is missing' : 'your USDC account cannot receive';
  if (state === 'claimable' || state === 'blocked') return `${message}. The refund waits because ${why}`;
  return code === 'service_unavailable' ? message : `${message}. Escrow refunded`;
}

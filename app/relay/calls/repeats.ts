/**
 * What a call is answered that came before, by where the first one stands: the one place that decides it, for execute
 * with an Idempotency-Key and for start, whose execution_id names the call itself. /docs says the same in words.
 */
import type { Kysely } from 'kysely';
import { ApiError } from '../errors.ts';
import { inProgress, lostResult, reused, type Standing, standingOf } from '../execution/standing.ts';
import { readStanding } from '../ledger/executions.ts';
import type { LedgerTables } from '../ledger/tables.ts';
import type { Repeatable } from './idempotency.ts';
import { getExecution, type RecordsDeps } from './records.ts';

/**
 * `run`: as if it were the first (start: as the record decides); `wait`: 409 until more is known; `pending`: the answer
 * that an asynchronous call has while it runs, never kept as its last; `end`: how it ended, the same bytes each time.
 */
export type RepeatAnswer = 'run' | 'wait' | 'pending' | 'end';

/** Another body, or another agent, is 422 in every standing but `unpaid`. */
const REPEATS: Record<Standing, Record<'sync' | 'async', RepeatAnswer>> = {
  unpaid: { sync: 'run', async: 'run' },
  unknown: { sync: 'wait', async: 'wait' },
  running: { sync: 'wait', async: 'pending' },
  ended: { sync: 'end', async: 'end' },
};

export interface RepeatsDeps extends RecordsDeps {
  ledger: Kysely<LedgerTables>;
}

/**
 * What the table says to this request. Throws ApiError: 422 where the first was another request, 409 where this one has
 * to wait.
 */
export async function decideRepeat(
  { ledger }: Pick<RepeatsDeps, 'ledger'>,
  request: Repeatable,
): Promise<Exclude<RepeatAnswer, 'wait'>> {
  const { executionId } = request;
  const row = await readStanding(ledger, executionId);
  const answer = row ? REPEATS[standingOf(row)][request.async ? 'async' : 'sync'] : 'run';
  if (!row || answer === 'run') return 'run';
  const isSame =
    row.fingerprint !== null && request.fingerprint !== null
      ? row.fingerprint === request.fingerprint
      : row.listing === request.listing && row.request_hash === request.requestHash;
  if (!isSame) throw reused(executionId);
  if (answer === 'wait') throw inProgress(executionId);
  return answer;
}

/**
 * Where the journal was lost, the record decides: refuses a request whose execution the index knows, in the words of its
 * end. Nothing is charged again whatever it says: where the index is behind, the record itself stops the open. Throws
 * ApiError: 422 where the record is another request's, 409 while it runs, 410 where its result is lost, else its error.
 */
export async function refuseByRecord(deps: RepeatsDeps, request: Repeatable): Promise<void> {
  const { executionId, wallet } = request;
  const record = await deps.views
    .selectFrom('chain.executions')
    .select(['listing', 'request_hash'])
    .where('execution_id', '=', executionId)
    .where('caller', '=', wallet)
    .executeTakeFirst();
  if (!record) return;
  if (record.listing !== request.listing || record.request_hash !== request.requestHash) throw reused(executionId);
  const { value: execution } = await getExecution(deps, wallet, executionId);
  if (execution.error)
    throw new ApiError(execution.error.code as 'execution_failed', execution.error.message, { executionId });
  if (execution.status === 'pending' || execution.status === 'running') throw inProgress(executionId);
  throw lostResult(executionId);
}

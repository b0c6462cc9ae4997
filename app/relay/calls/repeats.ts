/**
 * Decides the answer to a repeated call by the standing of its first request. It serves execute with an
 * Idempotency-Key, and start, whose execution_id identifies the call. /docs explains the same in words.
 */
import type { Kysely } from 'kysely';
import { ApiError } from '../errors.ts';
import { inProgress, lostResult, reused, type Standing, standingOf } from '../execution/standing.ts';
import { readIdByTail, readIndexedId, readStanding } from '../ledger/executions.ts';
import type { LedgerTables } from '../ledger/tables.ts';
import { idsOfDay, type Keyed, type Repeatable } from './idempotency.ts';
import { getExecution, type RecordsDeps } from './records.ts';

/**
 * `run`: as a first request (for start, the record decides). `wait`: 409 until more is known. `pending`: the answer of
 * a running asynchronous call, never kept as final. `end`: the final answer, the same bytes each time.
 */
export type RepeatAnswer = 'run' | 'wait' | 'pending' | 'end';

/** Another body or agent is 422 in every standing except `unpaid`. */
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
 * The decision for this request. Throws ApiError: 422 if the first was another request, 409 if this one has to wait.
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
 * The first request with this Idempotency-Key, as the ledger knows it, or else the index: the ledger may be lost. Null
 * if there is none. `now` is the chain's clock, unix seconds.
 */
export async function findFirst(
  { ledger, views }: Pick<RepeatsDeps, 'ledger' | 'views'>,
  request: Keyed,
  now: bigint,
): Promise<Repeatable | null> {
  const { wallet, tail } = request;
  const executionId =
    (await readIdByTail(ledger, wallet, tail)) ?? (await readIndexedId(views, wallet, idsOfDay(wallet, tail, now)));
  return executionId === null ? null : { ...request, executionId };
}

/**
 * Refuses a request whose execution the index knows, with the error of its end. This is needed if the journal was lost.
 * Throws ApiError: 422
 * if the record is another request's, 409 while it runs, 410 if its result is lost, else its error. With `deposit`, only
 * an execution that was opened from this deposit counts.
 */
export async function refuseByRecord(deps: RepeatsDeps, request: Repeatable, deposit?: string): Promise<void> {
  const { executionId, wallet } = request;
  const record = await deps.views
    .selectFrom('chain.executions')
    .select(['listing', 'request_hash', 'deposit'])
    .where('execution_id', '=', executionId)
    .where('caller', '=', wallet)
    .executeTakeFirst();
  if (!record || (deposit !== undefined && record.deposit !== deposit)) return;
  if (record.listing !== request.listing || record.request_hash !== request.requestHash) throw reused(executionId);
  const { value: execution } = await getExecution(deps, wallet, executionId);
  if (execution.error)
    throw new ApiError(execution.error.code as 'execution_failed', execution.error.message, { executionId });
  if (execution.status === 'pending' || execution.status === 'running') throw inProgress(executionId);
  throw lostResult(executionId);
}

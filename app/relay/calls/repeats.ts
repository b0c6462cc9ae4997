/**
 * Decides the answer to a repeated call by the standing of its first request. It serves execute with an
 * Idempotency-Key, and start, whose execution_id identifies the call. /docs explains the same in words.
 */
import type { ExecutionRecord } from '../../sdk/program/program.ts';
import { formatUuid, parseUuid } from '../../sdk/receipt/receipt.ts';
import { ApiError, chainUnreadable } from '../errors.ts';
import { inProgress, lostResult, reused, type Standing, standingOf } from '../execution/standing.ts';
import { readIdByTail, readIndexedId, readStanding } from '../ledger/executions.ts';
import type { Databases } from '../ledger/tables.ts';
import { idsOfDay, type Keyed, type Repeatable } from './idempotency.ts';
import type { LostCalls } from './lostCalls.ts';
import { getExecution, type RecordsDeps } from './records.ts';

/**
 * `run`: as a first request (for start, the record decides). `wait`: 409 until more is known. `pending`: the answer of
 * a running asynchronous call, never kept as final. `end`: the final answer, the same bytes each time.
 */
type RepeatAnswer = 'run' | 'wait' | 'pending' | 'end';

/** Another body or agent is 422 in every standing except `unpaid`. */
const REPEATS: Record<Standing, Record<'sync' | 'async', RepeatAnswer>> = {
  unpaid: { sync: 'run', async: 'run' },
  unknown: { sync: 'wait', async: 'wait' },
  running: { sync: 'wait', async: 'pending' },
  ended: { sync: 'end', async: 'end' },
};

export type RepeatsDeps = RecordsDeps & Pick<Databases, 'ledger'>;

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

export interface KeyedDeps extends Pick<RepeatsDeps, 'ledger' | 'views'> {
  lostCalls: LostCalls;
  accounts: {
    /** The chain's clock now, unix seconds, derived from the latest reading. */
    clock(): bigint;
    /** The records of these executions. Rejects if the node does not answer. */
    readRecords(executionIds: readonly Uint8Array[], holder?: string): Promise<ExecutionRecord[]>;
  };
}

/** The first request with this Idempotency-Key. Null if there is none. Throws ApiError as `findLost`. */
export async function findFirst(deps: KeyedDeps, request: Keyed): Promise<Repeatable | null> {
  const executionId = await readIdByTail(deps.ledger, request.wallet, request.tail);
  return executionId === null ? findLost(deps, request, request.wallet) : { ...request, executionId };
}

/**
 * The execution of an Idempotency-Key that the ledger does not know, by the index. The accounts are read too if the
 * ledger lacks calls; `holder` is the wallet, if its key asks. Throws ApiError: 503 while such a call may still be
 * unknown, 409 or 422 if only its account is known.
 */
export async function findLost(deps: KeyedDeps, request: Keyed, holder?: string): Promise<Repeatable | null> {
  const { views, lostCalls, accounts } = deps;
  const { wallet, tail } = request;
  await lostCalls.requireKnown();
  const ids = idsOfDay(wallet, tail, accounts.clock());
  const executionId = await readIndexedId(views, wallet, ids);
  if (executionId !== null) return { ...request, executionId };
  if (!lostCalls.mayLack()) return null;
  const [record] = await accounts
    .readRecords(
      ids.map((id) => parseUuid(id)!),
      holder,
    )
    .catch(chainUnreadable);
  if (!record) return null;
  const id = formatUuid(record.executionId);
  const isSame =
    record.listing.toBase58() === request.listing &&
    Buffer.from(record.requestHash).toString('hex') === request.requestHash;
  throw isSame ? inProgress(id) : reused(id);
}

/**
 * Refuses a request whose execution the index knows, with the error of its end. This is needed if the journal was lost.
 * Throws ApiError: 422 if the record is another request's, 409 while it runs, 410 if its result is lost, else its error.
 * With `deposit`, only an execution that was opened from this deposit counts.
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

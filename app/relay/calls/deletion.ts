/**
 * Deletes a request and its result when the caller asks for it. Deletion waits as long as a dispute may need them:
 * otherwise a caller could delete a good result and then dispute it.
 */
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import { toTime, toTimeOfMs } from '../../sdk/wire/time.ts';
import type { ContentDeleted } from '../../sdk/wire/wire.ts';
import { ApiError, retryLater } from '../errors.ts';
import { deleteContent, readContentState } from '../ledger/content.ts';
import { type Databases, ENDED_STATES } from '../ledger/tables.ts';
import type { Now } from '../waiting.ts';

/** Time until the index has a dispute of the window's last second, seconds. */
const INDEXED_SECONDS = 60n;
/** The index is only a moment behind the journal. */
const RETRY_AFTER_SECONDS = 5;

interface DeletionDeps extends Databases, Now {
  accounts: {
    /** The chain's clock, unix seconds. */
    clock(): bigint;
  };
}

/**
 * DELETE /v1/executions/{execution_id}/content for its caller; the same answer each time. Throws ApiError 404 for
 * another caller's execution, 409 while the content is needed.
 */
export async function deleteExecutionContent(
  deps: DeletionDeps,
  wallet: string,
  executionId: string,
): Promise<ContentDeleted> {
  const read = () => readContentState(deps.ledger, executionId);
  const row = parseUuid(executionId) ? await read() : undefined;
  if (row?.wallet !== wallet)
    throw new ApiError(
      'execution_not_found',
      'This wallet has no call with this execution_id, or this service does not store its content',
    );
  if (row.content_deleted_ms === null) {
    if (!ENDED_STATES.includes(row.state)) throw needed(executionId, 'not_ended', null);
    if (row.state === 'settled') await requireUndisputed(deps, executionId);
    await deleteContent(deps.ledger, executionId, deps.now());
  }
  const deletedMs = row.content_deleted_ms ?? (await read())?.content_deleted_ms;
  // The call was repeated meanwhile.
  if (deletedMs == null) throw needed(executionId, 'not_ended', null);
  return { execution_id: executionId, content_deleted_at: toTimeOfMs(deletedMs) };
}

/** An execution can be disputed at most once, within its window. */
async function requireUndisputed({ views, accounts }: DeletionDeps, executionId: string): Promise<void> {
  const record = await views
    .selectFrom('chain.executions')
    .select(['status', 'settled_at', 'dispute_window_seconds', 'dispute_count'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  if (!record?.settled_at) {
    throw retryLater('The index has not reached the end of this call yet.', RETRY_AFTER_SECONDS, executionId);
  }
  if (record.status === 'disputed') throw needed(executionId, 'disputed', null);
  const until = record.settled_at + record.dispute_window_seconds + INDEXED_SECONDS;
  if (record.dispute_count === 0n && accounts.clock() < until) throw needed(executionId, 'dispute_window', until);
}

type Reason = 'not_ended' | 'dispute_window' | 'disputed';

const WHY: Record<Reason, string> = {
  not_ended: 'The call has not ended yet. Its content can be deleted afterwards.',
  dispute_window: 'The call can still be disputed. Its content can be deleted after that.',
  disputed: 'The call is disputed. Its content can be deleted once the dispute has an outcome.',
};

function needed(executionId: string, reason: Reason, until: bigint | null): ApiError {
  const details = { reason, until: until === null ? null : toTime(until) };
  return new ApiError('content_needed', WHY[reason], { executionId, details });
}

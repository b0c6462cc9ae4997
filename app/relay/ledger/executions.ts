/** The table of executions as it is read: one row, and what the rows of a wallet or a listing add up to. */
import type { Database } from 'better-sqlite3';
import type { Kysely } from 'kysely';
import { IS_UNFINISHED, type JournalRow, type LedgerDatabase, type LedgerTables } from './tables.ts';
import type { Writing } from './writing.ts';

/** The row of this id, by a statement that is kept ready. */
export async function readExecutionRow(
  { db, compile }: Pick<Writing, 'db' | 'compile'>,
  id: string,
): Promise<JournalRow | undefined> {
  const query = () => db.selectFrom('executions').selectAll().where('execution_id', '=', id);
  return (await db.executeQuery(compile('get', [id], query))).rows[0];
}

/** What decides how a call that comes again is answered. */
export function readStanding(ledger: Kysely<LedgerTables>, executionId: string) {
  return ledger
    .selectFrom('executions')
    .select(['state', 'refund_state', 'fingerprint', 'listing', 'request_hash'])
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
}

/** How one ended execution of a listing went. */
export interface ListingOutcome {
  wallet: string;
  state: JournalRow['state'];
  created_ms: bigint;
  execution_time_ms: bigint | null;
}

/**
 * Reads the last executions of a listing that count for its health, newest first: the paid ones, and those refunded for a
 * reason below `firstOther`; those with the reason `timeout` only where the caller gave all of the listing's time.
 */
export function createOutcomeReader(
  ledger: Database,
  reasons: { firstOther: number; timeout: number },
): (listing: string, limit: number) => ListingOutcome[] {
  const statement = ledger.prepare<[string, number], ListingOutcome>(`
    SELECT wallet, state, created_ms, execution_time_ms FROM executions
    WHERE listing = ? AND state IN ('settled', 'refunding', 'refunded')
      AND (state = 'settled' OR (refund_reason < ${reasons.firstOther}
        AND NOT (refund_reason = ${reasons.timeout} AND timeout_seconds < ifnull(listing_timeout_seconds, 0))))
    ORDER BY created_ms DESC LIMIT ?`);
  return (listing, limit) => statement.all(listing, limit);
}

/** How many executions have not ended, how many of them are parked, and when the oldest was taken, unix ms. */
export function countUnfinished(views: Kysely<LedgerDatabase>) {
  // The states are written out as the partial index has them.
  return views
    .selectFrom('executions')
    .select((select) => [
      select.fn.countAll<bigint>().as('rows'),
      select.fn.min('created_ms').as('oldest_ms'),
      select.fn.countAll<bigint>().filterWhere('state', '=', 'parked').as('parked'),
    ])
    .where(IS_UNFINISHED)
    .executeTakeFirstOrThrow();
}

/** The last restart of the cluster that this ledger knows, and the rows that do not fit the index. */
import { type Kysely, sql } from 'kysely';
import type { JournalRow, LedgerDatabase, LedgerTables } from './tables.ts';

/** The restart after which this ledger was compared with the chain. A new ledger takes `present`. */
export async function readRestart(ledger: Kysely<LedgerTables>, present: bigint): Promise<bigint> {
  const known = await ledger.selectFrom('cluster').select('restart_slot').executeTakeFirst();
  if (known) return known.restart_slot;
  const first = ledger.insertInto('cluster').values({ id: 1n, restart_slot: present });
  await first.onConflict((conflict) => conflict.doNothing()).execute();
  return readRestart(ledger, present);
}

/** The ledger has been compared with the chain after this restart. */
export async function storeRestart(ledger: Kysely<LedgerTables>, slot: bigint): Promise<void> {
  await ledger.updateTable('cluster').set({ restart_slot: slot }).execute();
}

/** Rows of one page: a join of some milliseconds. */
const PAGE = 1_000;

export type Doubted = Pick<JournalRow, 'execution_id' | 'state' | 'settled_at'> & {
  /** The last height at which one of its opens can land; null if none was signed. */
  open_last_valid_height: bigint | null;
  /** Number of settles that were signed. */
  settles: bigint;
  /** Null if the index does not know the execution. */
  indexed_id: string | null;
};

/**
 * The ended rows of a page that the index does not show the same way, and its opened rows that the index does not know,
 * in order of their ids; with the last id of the page. Null after the last page.
 */
export async function readDoubted(
  views: Kysely<LedgerDatabase>,
  after: string,
): Promise<{ rows: Doubted[]; last: string } | null> {
  const page = sql`SELECT execution_id, state, settled_at
    FROM executions WHERE execution_id > ${after} ORDER BY execution_id LIMIT ${sql.lit(PAGE)}`;
  const { rows: ends } = await sql<{
    last: string | null;
  }>`SELECT max(execution_id) AS last FROM (${page}) AS page`.execute(views);
  const last = ends[0]?.last ?? null;
  if (last === null) return null;
  const { rows } = await sql<Doubted>`
    SELECT j.*, c.execution_id AS indexed_id, (SELECT max(s.last_valid_height)
        FROM transactions AS t JOIN signed_transactions AS s ON s.signature = t.signature
        WHERE t.execution_id = j.execution_id AND t.kind = 'open') AS open_last_valid_height,
      (SELECT count(*) FROM transactions AS t WHERE t.execution_id = j.execution_id AND t.kind = 'settle') AS settles
    FROM (${page}) AS j LEFT JOIN chain.executions AS c ON c.execution_id = j.execution_id
    WHERE (j.state = 'settled' AND coalesce(c.status, 'open') IN ('open', 'refunded'))
      OR (j.state = 'refunded' AND coalesce(c.status, 'open') <> 'refunded')
      OR (j.state IN ('returned', 'void') AND c.execution_id IS NOT NULL)
      OR (j.state IN ('open_confirmed', 'dispatched', 'verified', 'refunding', 'parked') AND c.execution_id IS NULL)
    ORDER BY j.execution_id`.execute(views);
  return { rows, last };
}

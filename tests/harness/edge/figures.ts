/** Recomputes the figures that the indexer keeps beside its rows, for rows that a test has written itself. */
import type { RequestListener } from 'node:http';
import { type Kysely, type QueryId, sql } from 'kysely';
import { isPostgres } from '../../../app/database/portable.ts';
import { readWrongAgents, writeAgents } from '../../../indexer/apply/agents.ts';
import { writeStatistics } from '../../../indexer/apply/statistics.ts';
import type { ExecutionRow, IndexDatabase } from '../../../indexer/queries/tables.ts';

/** Recomputes all figures and agents. */
export async function refreshFigures(index: Kysely<IndexDatabase>): Promise<void> {
  await index.transaction().execute(async (db) => {
    // One of two concurrent calls would not delete what the other inserted.
    if (isPostgres(db)) await sql`LOCK TABLE agent_statistics IN EXCLUSIVE MODE`.execute(db);
    for (const table of ['agent_statistics', 'caller_totals', 'agent_days'] as const) {
      await db.deleteFrom(table).execute();
    }
    const rows = (await db.selectFrom('executions').selectAll().execute()) as ExecutionRow[];
    await writeStatistics(
      db,
      rows.map((after) => ({ before: null, after })),
    );
    await writeAgents(db, await readWrongAgents(db), []);
  });
}

/** Recomputes the figures before the first request that follows a change of `index`. */
export function watchFigures(of: Kysely<IndexDatabase>) {
  const changes = new WeakSet<QueryId>();
  let isFresh = false;
  let refreshing: Promise<void> | null = null;
  const index = of.withPlugin({
    transformQuery({ node, queryId }) {
      if (node.kind !== 'SelectQueryNode') changes.add(queryId);
      return node;
    },
    async transformResult({ queryId, result }) {
      if (changes.has(queryId)) isFresh = false;
      return result;
    },
  });
  async function refresh(): Promise<void> {
    isFresh = true;
    // Without a database there are no figures either.
    await refreshFigures(of).catch(() => {
      isFresh = false;
    });
    refreshing = null;
  }
  const beforeRequests = (serve: RequestListener): RequestListener => {
    return (...exchange) => {
      if (isFresh && !refreshing) {
        serve(...exchange);
        return;
      }
      refreshing ??= refresh();
      void refreshing.then(() => serve(...exchange));
    };
  };
  return { index, beforeRequests };
}

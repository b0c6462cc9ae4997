/** Recomputes the figures that the indexer keeps beside its rows, for rows that a test has written itself. */
import type { RequestListener } from 'node:http';
import { type Kysely, type QueryId, sql } from 'kysely';
import { isPostgres } from '../../../app/database/portable.ts';
import { readWrongAgents, writeAgents } from '../../../indexer/apply/agents.ts';
import type { IndexDatabase } from '../../../indexer/queries/tables.ts';

const STATISTICS = sql.raw(`
  INSERT INTO agent_statistics (listing, total_executions, successful_executions, success_rate, avg_execution_time_ms,
    dispute_count, earned, ended_executions, timed_executions, total_time_ms)
  SELECT
    listing, total, successful,
    CASE WHEN total = 0 THEN 0.0 ELSE CAST(successful AS DOUBLE PRECISION) / total END,
    CASE WHEN timed = 0 THEN 0 ELSE CAST((2 * total_time + timed) / (2 * timed) AS BIGINT) END,
    disputes, earned, ended, timed, total_time
  FROM (
    SELECT
      listing,
      CAST(sum(CASE WHEN outcome <> 'refunded' THEN 1 ELSE 0 END) AS BIGINT) AS total,
      CAST(sum(CASE WHEN outcome IN ('completed', 'disputed') THEN 1 ELSE 0 END) AS BIGINT) AS successful,
      CAST(sum(dispute_count) AS BIGINT) AS disputes,
      CAST(sum(creator_amount) AS BIGINT) AS earned,
      count(*) AS ended,
      CAST(sum(CASE WHEN outcome NOT IN ('failed', 'refunded') AND execution_time_ms IS NOT NULL THEN 1 ELSE 0 END)
        AS BIGINT) AS timed,
      CAST(sum(CASE WHEN outcome NOT IN ('failed', 'refunded') THEN coalesce(execution_time_ms, 0) ELSE 0 END)
        AS BIGINT) AS total_time
    FROM ended_executions
    GROUP BY listing
  ) AS figures`);

/** Counts each execution under its listing, and under all listings. */
const CALLERS = (listing: 'listing' | "''") =>
  sql.raw(`INSERT INTO caller_totals (caller, listing, status, day, executions)
    SELECT caller, ${listing}, status, opened_at / 86400, count(*) FROM executions WHERE status <> 'open'
    GROUP BY 1, 2, 3, 4`);

/** Rows of `agent_days` by listing or for all, in the order of its columns. Times have two significant digits, rounded half up. */
const daysOf = (listing: 'listing' | "''") => `
  SELECT ${listing} AS listing, settled_at / 86400 AS day, outcome, CAST(reason AS BIGINT) AS reason,
    CAST(CASE WHEN time IS NULL THEN -1 ELSE (time + unit / 2) / unit * unit END AS BIGINT) AS time_ms,
    count(*) AS executions,
    CAST(sum(CASE WHEN outcome IN ('failed', 'refunded') THEN 0 ELSE price END) AS BIGINT) AS paid,
    CAST(sum(creator_amount) AS BIGINT) AS earned
  FROM (
    SELECT *, CASE WHEN time < 100 THEN 1 WHEN time < 1000 THEN 10 WHEN time < 10000 THEN 100
      WHEN time < 100000 THEN 1000 WHEN time < 1000000 THEN 10000 WHEN time < 10000000 THEN 100000 ELSE 1000000 END AS unit
    FROM (
      SELECT e.listing, e.outcome, e.settled_at, e.creator_amount, x.price,
        CASE WHEN e.outcome IN ('failed', 'refunded') THEN coalesce(x.reason, -1) ELSE -1 END AS reason,
        CASE WHEN e.outcome IN ('failed', 'refunded') THEN NULL ELSE e.execution_time_ms END AS time
      FROM ended_executions AS e JOIN executions AS x ON x.execution_id = e.execution_id WHERE e.settled_at IS NOT NULL
    ) AS ends
  ) AS units
  GROUP BY 1, 2, 3, 4, 5`;
export const DAYS = `${daysOf('listing')} UNION ALL ${daysOf("''")}`;

/** Recomputes all figures and agents. */
export async function refreshFigures(index: Kysely<IndexDatabase>): Promise<void> {
  await index.transaction().execute(async (db) => {
    // One of two concurrent calls would not delete what the other inserted.
    if (isPostgres(db)) await sql`LOCK TABLE agent_statistics IN EXCLUSIVE MODE`.execute(db);
    await db.deleteFrom('agent_statistics').execute();
    await db.deleteFrom('caller_totals').execute();
    await STATISTICS.execute(db);
    await CALLERS('listing').execute(db);
    await CALLERS("''").execute(db);
    await db.deleteFrom('agent_days').execute();
    await sql
      .raw(`INSERT INTO agent_days (listing, day, outcome, reason, time_ms, executions, paid, earned) ${DAYS}`)
      .execute(db);
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

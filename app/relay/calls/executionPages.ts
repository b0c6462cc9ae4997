/**
 * Finds the executions on a page of a wallet, newest first, and their number.
 *
 * It merges two disjoint parts. Executions that the chain has ended may be a million rows. The others are few: in
 * progress, maybe not yet indexed, or never on the chain.
 */
import { type Kysely, sql } from 'kysely';
import type { ExecutionStatusName } from '../../../indexer/queries/tables.ts';
import type { ExecutionStatus } from '../../sdk/wire/wire.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { INITIATED_AT, STATUS } from './executionViews.ts';

type Views = Kysely<LedgerDatabase>;

export interface PageQuery {
  wallet: string;
  status: ExecutionStatus | undefined;
  /** The listing's address. */
  agentId: string | undefined;
  /** The API key on the chain, 32 hex digits. */
  keyId: string | undefined;
  /** Unix seconds; `to` is exclusive. */
  from: number;
  to: number;
  limit: number;
  offset: number;
}

/** Sort key of an execution; newest first. */
interface Place {
  execution_id: string;
  initiated_at: bigint;
  /** True if the index does not know it yet. */
  is_ahead: boolean;
  opened_slot: bigint | null;
  open_index: bigint | null;
  /** Unix ms; only for executions ahead of the index. */
  created_ms: bigint | null;
}

/** Unix seconds; `to` is exclusive. */
interface Span {
  from: bigint;
  to: bigint;
}

const DAY = 86_400n;
/** Most executions of a single key that are counted. Pages end there. */
const MOST_OF_KEY = 20_000;
/** Maximum delay of the index for a single transaction: a node may list it late. */
const LATE_SECONDS = 120n;

/** The page's ids, and the number of matching executions. Inside a transaction, both are of the same moment. */
export async function findPage(views: Views, query: PageQuery): Promise<{ ids: string[]; total: number }> {
  const { limit, offset } = query;
  const span = { from: BigInt(query.from), to: BigInt(query.to) };
  const [ended, others] = [endedPart(views, query), await otherPart(views, query, span)];
  const days = await ended.count(span);
  const total = days.reduce((sum, { executions }) => sum + executions, await others.count());
  if (offset >= total) return { ids: [], total };
  const places = await others.top(offset + limit);
  // At most `places.length` others precede the page, so at least `passed` ended executions do. Those are not read.
  const passed = Math.max(0, offset - places.length);
  places.push(...(await ended.top(...skipDays(days, span, passed), offset + limit - passed)));
  places.sort(compare);
  return { ids: places.slice(offset - passed, offset - passed + limit).map((place) => place.execution_id), total };
}

/** The span up to the end of the day that contains this place, and the number of that day's executions before it. */
function skipDays(days: readonly Day[], { from, to }: Span, place: number): [Span, offset: number] {
  let [end, left] = [to, place];
  for (const day of days) {
    if (left < day.executions) break;
    left -= day.executions;
    end = day.from;
  }
  return [{ from, to: end }, left];
}

/**
 * Within a second the chain's order counts. Executions that the index does not know yet are newer, in the order in
 * which the relay took them.
 */
function compare(one: Place, other: Place): number {
  return (
    Number(other.initiated_at - one.initiated_at) ||
    Number(other.is_ahead) - Number(one.is_ahead) ||
    Number((other.opened_slot ?? -1n) - (one.opened_slot ?? -1n)) ||
    Number((other.open_index ?? -1n) - (one.open_index ?? -1n)) ||
    (one.is_ahead ? Number((other.created_ms ?? -1n) - (one.created_ms ?? -1n)) : 0) ||
    (one.execution_id < other.execution_id ? 1 : -1)
  );
}

const ENDED: Partial<Record<ExecutionStatus, ExecutionStatusName[]>> = {
  completed: ['completed'],
  failed: ['refunded'],
  disputed: ['disputed', 'dispute_upheld'],
};
const ALL_ENDED = Object.values(ENDED).flat();

/** A day, or the requested part of one. */
interface Day {
  from: bigint;
  executions: number;
}

/**
 * Executions that the chain has ended. Counting a million index rows blocks SQLite's thread for 140 ms. Whole days are
 * therefore counted in `caller_totals`, and only partial days by their rows. Those of one key are counted up to a limit.
 */
function endedPart(views: Views, { wallet, status, agentId, keyId }: PageQuery) {
  const statuses = status === undefined ? ALL_ENDED : (ENDED[status] ?? []);
  const rowsIn = ({ from, to }: Span) => sql`chain.executions
    WHERE caller = ${wallet} AND opened_at >= ${from} AND opened_at < ${to}
    ${agentId === undefined ? sql.raw('') : sql`AND listing = ${agentId}`}
    ${keyId === undefined ? sql.raw('') : sql`AND key_id = ${keyId}`}`;

  async function countRows(span: Span): Promise<Day[]> {
    if (span.from >= span.to) return [];
    const most = keyId === undefined ? sql.raw('') : sql`LIMIT ${MOST_OF_KEY}`;
    const { rows } = await sql<{ total: bigint }>`SELECT count(*) AS total FROM (
      SELECT 1 FROM ${rowsIn(span)} AND status IN (${sql.join(statuses)}) ${most}) AS counted`.execute(views);
    return [{ from: span.from, executions: Number(rows[0]!.total) }];
  }

  return {
    /** Newest first; days without executions may be missing. */
    async count({ from, to }: Span): Promise<Day[]> {
      if (statuses.length === 0) return [];
      if (keyId !== undefined) return countRows({ from, to });
      const [first, end] = [(from + DAY - 1n) / DAY, to / DAY];
      if (first > end) return countRows({ from, to });
      const { rows } = await sql<{ day: bigint; total: bigint }>`
        SELECT day, sum(executions) AS total FROM chain.caller_totals
        WHERE caller = ${wallet} AND listing = ${agentId ?? ''} AND status IN (${sql.join(statuses)})
          AND day >= ${first} AND day < ${end}
        GROUP BY day ORDER BY day DESC`.execute(views);
      return [
        ...(await countRows({ from: end * DAY, to })),
        ...rows.map(({ day, total }) => ({ from: day * DAY, executions: Number(total) })),
        ...(await countRows({ from, to: first * DAY })),
      ];
    },

    async top(span: Span, offset: number, limit: number): Promise<Place[]> {
      if (statuses.length === 0) return [];
      const order = sql`ORDER BY initiated_at DESC, opened_slot DESC NULLS LAST, open_index DESC NULLS LAST, execution_id DESC`;
      // Each status is a range of an index in this order. The status is a literal, because a partial index depends on
      // it and SQLite would prepare the statement again for each bound value.
      const ranges = statuses.map(
        (one) => sql`SELECT * FROM (
          SELECT execution_id, opened_at AS initiated_at, opened_slot, open_index
          FROM ${rowsIn(span)} AND status = ${sql.lit(one)}
          ${order} LIMIT ${offset + limit}) AS ${sql.ref(one)}`,
      );
      const { rows } = await sql<Omit<Place, 'is_ahead' | 'created_ms'>>`
        SELECT * FROM (${sql.join(ranges, sql` UNION ALL `)}) AS ended ${order} LIMIT ${limit} OFFSET ${offset}`.execute(
        views,
      );
      return rows.map((row) => ({ ...row, is_ahead: false, created_ms: null }));
    },
  };
}

/**
 * The others: executions in progress, ended ones that the index may not show yet, and those that never opened. The
 * index has an ended execution if it is older than the newest indexed one by more than LATE_SECONDS.
 */
async function otherPart(views: Views, { wallet, status, agentId, keyId }: PageQuery, { from, to }: Span) {
  const newest = await sql<{ opened_at: bigint }>`SELECT opened_at FROM chain.executions
    WHERE opened_slot IS NOT NULL ORDER BY opened_slot DESC, open_index DESC LIMIT 1`.execute(views);
  const since = (newest.rows[0]?.opened_at ?? 0n) - LATE_SECONDS;
  const columns = sql`${STATUS} AS status, ${INITIATED_AT} AS initiated_at,
    CAST(CASE WHEN c.execution_id IS NULL THEN 1 ELSE 0 END AS BIGINT) AS is_ahead, c.opened_slot AS opened_slot,
    c.open_index AS open_index, j.created_ms AS created_ms`;
  // The states are literals, as in the partial index of each.
  const journal = (condition: string) => sql`
    SELECT j.execution_id AS execution_id, j.listing AS listing, j.key_id AS key_id, ${columns}
    FROM executions AS j LEFT JOIN chain.executions AS c ON c.execution_id = j.execution_id
    WHERE j.wallet = ${wallet} AND c.execution_id IS NULL AND ${sql.raw(condition)}`;
  const matching = sql`(
    ${journal("j.state NOT IN ('settled', 'refunded', 'returned', 'void') AND j.state <> 'accepted'")}
    UNION ALL ${journal("j.state IN ('settled', 'refunded')")} AND j.settled_at >= ${since}
    UNION ALL SELECT execution_id, listing, key_id, 'failed', coalesce(opened_at, accepted_at), CAST(1 AS BIGINT),
      CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), created_ms
    FROM executions WHERE wallet = ${wallet} AND state IN ('returned', 'void')
    UNION ALL SELECT c.execution_id, c.listing, c.key_id, ${columns}
    FROM chain.executions AS c
    LEFT JOIN executions AS j ON j.execution_id = c.execution_id AND j.state <> 'accepted'
    WHERE c.caller = ${wallet} AND c.status = 'open') AS known
    WHERE initiated_at >= ${from} AND initiated_at < ${to}
    ${status === undefined ? sql.raw('') : sql`AND status = ${status}`}
    ${agentId === undefined ? sql.raw('') : sql`AND listing = ${agentId}`}
    ${keyId === undefined ? sql.raw('') : sql`AND key_id = ${keyId}`}`;
  return {
    async count(): Promise<number> {
      const { rows } = await sql<{ total: bigint }>`SELECT count(*) AS total FROM ${matching}`.execute(views);
      return Number(rows[0]!.total);
    },
    async top(limit: number): Promise<Place[]> {
      const { rows } = await sql<Omit<Place, 'is_ahead'> & { is_ahead: bigint }>`
        SELECT execution_id, initiated_at, is_ahead, opened_slot, open_index, created_ms FROM ${matching}
        ORDER BY initiated_at DESC, is_ahead DESC, opened_slot DESC NULLS LAST, open_index DESC NULLS LAST,
          created_ms DESC NULLS LAST, execution_id DESC
        LIMIT ${limit}`.execute(views);
      return rows.map((place) => ({ ...place, is_ahead: place.is_ahead === 1n }));
    },
  };
}

/**
 * Which executions of a wallet stand on a page, newest first, and how many there are, without reading those on other pages.
 *
 * A list is merged from three parts, of which no two have an execution in common: `ended`, what the chain has ended,
 * counted hour by hour in `caller_totals`; `ahead`, what is under way or so recent that the index may not have it, few rows;
 * and `void`, what never reached the chain and never will.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { keepsTotals } from '../../../indexer/read.ts';
import type { ExecutionStatusName } from '../../../indexer/tables.ts';
import type { ExecutionStatus } from '../../sdk/wire/wire.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { INITIATED_AT, STATUS } from './executionViews.ts';

type Views = Kysely<LedgerDatabase>;

export interface PageQuery {
  wallet: string;
  status: ExecutionStatus | undefined;
  /** Of the listing. */
  agentId: string | undefined;
  /** Unix seconds of the first, and those after the last. */
  from: number;
  to: number;
  limit: number;
  offset: number;
}

/** Where an execution stands: the newest first. */
interface Place {
  execution_id: string;
  initiated_at: bigint;
  /** Whether the index does not know it yet. */
  is_ahead: boolean;
  opened_slot: bigint | null;
  open_index: bigint | null;
  /** Unix ms; of what is ahead. */
  created_ms: bigint | null;
}

/** Unix seconds: from the first, up to and without the second. */
interface Span {
  from: bigint;
  to: bigint;
}

/** How many begin within one of the equal lengths of time since 1970. */
interface PeriodCount {
  period: bigint;
  executions: bigint;
}

interface Part {
  count(span: Span): Promise<bigint>;
  /** By periods of so many hours; those in which there are none may be missing. */
  periods(span: Span, hours: bigint): Promise<PeriodCount[]>;
  /** So many in their order, the first of them after `offset` others. */
  top(span: Span, limit: number, offset?: number): Promise<Place[]>;
}

const HOUR = 3_600n;
const DAY_HOURS = 24n;
/** Places that are rather read than counted. */
const NEAR = 200;
/** How long after it happened the index may lack something older than what it has: a node lists a transaction late. */
const LATE_SECONDS = 120n;

/**
 * The page's ids, and how many executions match. In a transaction, they are of the same moment. Of an offset above `near`,
 * whole hours are passed over by their counts.
 */
export async function findPage(views: Views, query: PageQuery, near = NEAR): Promise<{ ids: string[]; total: number }> {
  const ended = endedPart(views, query, await keepsTotals(views, 'chain'));
  const parts = [ended, await aheadPart(views, query), voidPart(views, query)];
  const span = { from: BigInt(query.from), to: BigInt(query.to) };
  const { offset, limit } = query;
  const { left, to, skip, total } = await (offset <= near ? skipNothing : skipHours)(parts, span, offset);
  if (offset >= total) return { ids: [], total };
  const places: Place[] = [];
  for (const part of left) {
    if (part !== ended) places.push(...(await part.top({ ...span, to }, skip + limit)));
  }
  // No more than those others can stand before an ended one, so that as many of the ended fewer need not be read.
  const unread = Math.max(0, skip - places.length);
  if (left.includes(ended)) places.push(...(await ended.top({ ...span, to }, skip - unread + limit, unread)));
  places.sort(compare);
  const page = places.slice(skip - unread, skip - unread + limit);
  return { ids: page.map((place) => place.execution_id), total };
}

/** Where to read on. */
interface Skipped {
  /** Those that have anything before `to`. */
  left: Part[];
  to: bigint;
  /** Places that come before the one that is looked for. */
  skip: number;
  /** Places of the whole span. */
  total: number;
}

async function skipNothing(parts: Part[], span: Span, offset: number): Promise<Skipped> {
  const left: Part[] = [];
  let total = 0;
  for (const part of parts) {
    const count = Number(await part.count(span));
    if (count > 0) left.push(part);
    total += count;
  }
  return { left, to: span.to, skip: offset, total };
}

/** To the end of the hour that holds this place: first by days, so that few counts are read. */
async function skipHours(parts: Part[], span: Span, offset: number): Promise<Skipped> {
  const days = await skipPeriods(parts, span, offset, DAY_HOURS);
  if (offset >= days.total) return days;
  const begin = days.to - 1n - ((days.to - 1n) % (DAY_HOURS * HOUR));
  const day = { from: begin < span.from ? span.from : begin, to: days.to };
  const hours = await skipPeriods(days.left, day, days.skip, 1n);
  // What has nothing in this day may have something before it.
  return { ...hours, left: days.left, total: days.total };
}

async function skipPeriods(parts: Part[], span: Span, offset: number, hours: bigint): Promise<Skipped> {
  const counted: { part: Part; period: bigint; count: number }[] = [];
  for (const part of parts) {
    for (const { period, executions } of await part.periods(span, hours)) {
      counted.push({ part, period, count: Number(executions) });
    }
  }
  counted.sort((one, other) => Number(other.period - one.period));
  const total = counted.reduce((sum, { count }) => sum + count, 0);
  let skip = offset;
  for (let at = 0; at < counted.length; ) {
    const { period } = counted[at] as (typeof counted)[number];
    let next = at;
    let count = 0;
    for (; counted[next]?.period === period; next += 1) count += counted[next]?.count ?? 0;
    if (skip < count) {
      const end = (period + 1n) * hours * HOUR;
      const left = new Set(counted.slice(at).flatMap((one) => (one.count > 0 ? one.part : [])));
      return { left: [...left], to: end < span.to ? end : span.to, skip, total };
    }
    skip -= count;
    at = next;
  }
  return { left: [], to: span.to, skip, total };
}

/**
 * Within a second the chain's order counts, which what the index does not know yet comes after; then the order in which the
 * relay took them.
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

/** What the chain has ended: each status is one range of an index. Without totals, as an index fills, all of it is counted. */
function endedPart(views: Views, { wallet, status, agentId }: PageQuery, hasTotals: boolean): Part {
  const statuses = status === undefined ? ALL_ENDED : (ENDED[status] ?? []);
  const here = (span: Span) => sql`caller = ${wallet} AND opened_at >= ${span.from} AND opened_at < ${span.to}
    ${agentId === undefined ? sql.raw('') : sql`AND listing = ${agentId}`}`;

  const isEnded = (span: Span) => sql`${here(span)} AND status IN (${sql.join(statuses)})`;

  async function countExactly(span: Span): Promise<bigint> {
    const { rows } = await sql<{ total: bigint }>`
      SELECT count(*) AS total FROM chain.executions WHERE ${isEnded(span)}`.execute(views);
    return rows[0]?.total ?? 0n;
  }

  async function listExactly(span: Span, hours: bigint): Promise<PeriodCount[]> {
    const { rows } = await sql<PeriodCount>`
      SELECT opened_at / ${hours * HOUR} AS period, count(*) AS executions FROM chain.executions
      WHERE ${isEnded(span)} GROUP BY 1`.execute(views);
    return rows;
  }

  /** Of whole hours, from the first up to and without the second. */
  const inHours = (first: bigint, end: bigint) => sql`
    FROM chain.caller_totals
    WHERE caller = ${wallet} AND listing = ${agentId ?? ''} AND status IN (${sql.join(statuses)})
      AND hour >= ${first} AND hour < ${end}`;

  const listPeriods = (hours: bigint) => async (first: bigint, end: bigint) => {
    const { rows } = await sql<PeriodCount>`
      SELECT hour / ${hours} AS period, sum(executions) AS executions ${inHours(first, end)} GROUP BY 1`.execute(views);
    return rows;
  };

  async function addHours(first: bigint, end: bigint): Promise<PeriodCount[]> {
    const { rows } = await sql<{ total: bigint | null }>`
      SELECT sum(executions) AS total ${inHours(first, end)}`.execute(views);
    return [{ period: first, executions: rows[0]?.total ?? 0n }];
  }

  /** Of the hours that the span cuts, those executions that are in it; of the others, all. */
  async function cut({ from, to }: Span, hours: bigint, whole: typeof addHours): Promise<PeriodCount[]> {
    if (statuses.length === 0 || from >= to) return [];
    const first = (from + HOUR - 1n) / HOUR;
    const end = to / HOUR;
    const edge = async (hour: bigint, span: Span) => ({ period: hour / hours, executions: await countExactly(span) });
    if (first > end) return [await edge(end, { from, to })];
    const counts = first < end ? await whole(first, end) : [];
    if (from < first * HOUR) counts.push(await edge(first - 1n, { from, to: first * HOUR }));
    if (end * HOUR < to) counts.push(await edge(end, { from: end * HOUR, to }));
    return counts;
  }

  return {
    periods: (span, hours) => (hasTotals ? cut(span, hours, listPeriods(hours)) : listExactly(span, hours)),
    async count(span) {
      if (!hasTotals) return countExactly(span);
      return (await cut(span, 1n, addHours)).reduce((sum, { executions }) => sum + executions, 0n);
    },
    async top(span, limit, offset = 0) {
      if (statuses.length === 0) return [];
      const order = sql`ORDER BY opened_at DESC, opened_slot DESC NULLS LAST, open_index DESC NULLS LAST, execution_id DESC`;
      // In the text, because SQLite would prepare it anew for each value of what a partial index names.
      const ranges = statuses.map(
        (one) => sql`SELECT * FROM (
          SELECT execution_id, opened_at, opened_slot, open_index FROM chain.executions
          WHERE ${here(span)} AND status = ${sql.lit(one)}
          ${order} LIMIT ${offset + limit}) AS ${sql.ref(one)}`,
      );
      const { rows } = await sql<{
        execution_id: string;
        opened_at: bigint;
        opened_slot: bigint | null;
        open_index: bigint | null;
      }>`SELECT * FROM (${sql.join(ranges, sql` UNION ALL `)}) AS ended ${order} LIMIT ${limit} OFFSET ${offset}`.execute(
        views,
      );
      return rows.map(({ opened_at, ...row }) => {
        return { ...row, initiated_at: opened_at, is_ahead: false, created_ms: null };
      });
    },
  };
}

/**
 * What is under way by the journal or the chain, and what the journal has ended and the chain's rows do not show yet. What
 * is proven and older than the newest that the index has, by more than a node may be late, is in the index.
 */
async function aheadPart(views: Views, query: PageQuery): Promise<Part> {
  const { wallet } = query;
  const newest = await sql<{ opened_at: bigint }>`SELECT opened_at FROM chain.executions
    WHERE opened_slot IS NOT NULL ORDER BY opened_slot DESC, open_index DESC LIMIT 1`.execute(views);
  const since = (newest.rows[0]?.opened_at ?? 0n) - LATE_SECONDS;
  const columns = sql`${STATUS} AS status, ${INITIATED_AT} AS initiated_at,
    CAST(CASE WHEN c.execution_id IS NULL THEN 1 ELSE 0 END AS BIGINT) AS is_ahead, c.opened_slot AS opened_slot,
    c.open_index AS open_index, j.created_ms AS created_ms`;
  // In each the states are in its text, as they are in that of the partial index that serves it.
  const journal = (condition: string) => sql`
    SELECT j.execution_id AS execution_id, j.listing AS listing, ${columns}
    FROM executions AS j LEFT JOIN chain.executions AS c ON c.execution_id = j.execution_id
    WHERE j.wallet = ${wallet} AND c.execution_id IS NULL AND ${sql.raw(condition)}`;
  const known = sql`(
    ${journal("j.state NOT IN ('settled', 'refunded', 'void') AND j.state <> 'accepted'")}
    UNION ALL ${journal("j.state IN ('settled', 'refunded', 'void') AND j.is_final = 0")}
    UNION ALL ${journal("j.state IN ('settled', 'refunded') AND j.is_final = 1")} AND j.settled_at >= ${since}
    UNION ALL SELECT c.execution_id, c.listing, ${columns}
    FROM chain.executions AS c
    LEFT JOIN executions AS j ON j.execution_id = c.execution_id AND j.state <> 'accepted'
    WHERE c.caller = ${wallet} AND c.status = 'open')`;
  return selected(views, known, query);
}

/** What was never opened, proven so. */
function voidPart(views: Views, query: PageQuery): Part {
  const known = sql`(
    SELECT execution_id, listing, 'failed' AS status, coalesce(opened_at, accepted_at) AS initiated_at,
      CAST(1 AS BIGINT) AS is_ahead, CAST(NULL AS BIGINT) AS opened_slot, CAST(NULL AS BIGINT) AS open_index, created_ms
    FROM executions
    WHERE wallet = ${query.wallet} AND state = 'void' AND is_final = 1)`;
  return selected(views, known, query);
}

function selected(views: Views, rows: RawBuilder<unknown>, { status, agentId }: PageQuery): Part {
  const matching = (span: Span) => sql`${rows} AS known
    WHERE initiated_at >= ${span.from} AND initiated_at < ${span.to}
    ${status === undefined ? sql.raw('') : sql`AND status = ${status}`}
    ${agentId === undefined ? sql.raw('') : sql`AND listing = ${agentId}`}`;
  return {
    async count(span) {
      const counted = await sql<{ total: bigint }>`SELECT count(*) AS total FROM ${matching(span)}`.execute(views);
      return counted.rows[0]?.total ?? 0n;
    },
    async periods(span, hours) {
      const counted = await sql<PeriodCount>`
        SELECT initiated_at / ${hours * HOUR} AS period, count(*) AS executions FROM ${matching(span)} GROUP BY 1`.execute(
        views,
      );
      return counted.rows;
    },
    async top(span, limit) {
      const { rows: places } = await sql<Omit<Place, 'is_ahead'> & { is_ahead: bigint }>`
        SELECT execution_id, initiated_at, is_ahead, opened_slot, open_index, created_ms FROM ${matching(span)}
        ORDER BY initiated_at DESC, is_ahead DESC, opened_slot DESC NULLS LAST, open_index DESC NULLS LAST,
          created_ms DESC NULLS LAST, execution_id DESC
        LIMIT ${limit}`.execute(views);
      return places.map((place) => ({ ...place, is_ahead: place.is_ahead === 1n }));
    },
  };
}

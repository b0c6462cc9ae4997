/**
 * Keeps figures beside the rows that they follow from. Each change of an execution subtracts its old row from the
 * figures of its listing and its caller, and adds its new row. The result does not depend on the order of the changes.
 */
import type { Kysely } from 'kysely';
import { deleteRows, readRows, writeRows } from '../../app/database/bulk.ts';
import type {
  AgentDayRow,
  AgentStatisticsRow,
  CallerTotalRow,
  EndedExecutionRow,
  ExecutionRow,
  IndexDatabase,
} from '../queries/tables.ts';
import { addDay, DAY_COLUMNS, DAY_SUMS, SECONDS_PER_DAY } from './agentDays.ts';

interface ExecutionChange {
  before: ExecutionRow | null;
  after: ExecutionRow | null;
}

/** Added figures; rate and mean are computed from them. */
const SUMS = [
  'total_executions',
  'successful_executions',
  'dispute_count',
  'earned',
  'ended_executions',
  'timed_executions',
  'total_time_ms',
] as const;
type Sums = Pick<AgentStatisticsRow, (typeof SUMS)[number]>;

const CALLER_COLUMNS = ['caller', 'listing', 'status', 'day', 'executions'] as const;
const COLUMNS = ['listing', ...SUMS, 'success_rate', 'avg_execution_time_ms'] as const;

/** Writes the figures after these changes. Returns the listings whose statistics changed. */
export async function writeStatistics(
  db: Kysely<IndexDatabase>,
  changes: readonly ExecutionChange[],
): Promise<Iterable<string>> {
  const figures = new Figures();
  for (const { before, after } of changes) {
    if (before) figures.add(before, -1n);
    if (after) figures.add(after, 1n);
  }
  const { listings, callers, days } = figures;
  for (const [listing, sums] of listings) if (SUMS.every((sum) => sums[sum] === 0n)) listings.delete(listing);
  await writeListings(db, listings);
  await writeCounts(db, 'caller_totals', CALLER_COLUMNS, ['executions'], callers.values());
  await writeCounts(db, 'agent_days', DAY_COLUMNS, DAY_SUMS, days.values());
  return listings.keys();
}

async function writeListings(db: Kysely<IndexDatabase>, changes: ReadonlyMap<string, Sums>): Promise<void> {
  const columns = ['listing', ...SUMS];
  const read = await readRows<Sums & { listing: string }, IndexDatabase>(
    db,
    'agent_statistics',
    columns,
    'listing',
    changes.keys(),
  );
  const known = new Map(read.map((row) => [row.listing, row]));
  const rows: AgentStatisticsRow[] = [];
  const empty: string[] = [];
  for (const [listing, change] of changes) {
    const row = figuresOf(listing, addSums(known.get(listing) ?? NOTHING, change, 1n));
    if (row.ended_executions === 0n) empty.push(listing);
    else rows.push(row);
  }
  await writeRows(
    db,
    { table: 'agent_statistics', columns: COLUMNS, conflict: { key: ['listing'], set: COLUMNS.slice(1) } },
    rows.map((row) => COLUMNS.map((column) => row[column])),
  );
  await deleteRows(db, 'agent_statistics', 'listing', empty);
}

/** Adds the last columns, which are `sums`, to the rows of the same key. Rows that count nothing any more are deleted. */
async function writeCounts<Row extends { executions: bigint }>(
  db: Kysely<IndexDatabase>,
  table: 'caller_totals' | 'agent_days',
  columns: readonly (keyof Row & string)[],
  sums: readonly (keyof Row & string)[],
  changes: Iterable<Row>,
): Promise<void> {
  const rows = [...changes].filter((row) => sums.some((sum) => row[sum] !== 0n));
  const conflict = { key: columns.slice(0, -sums.length), add: sums };
  await writeRows(
    db,
    { table, columns, conflict },
    rows.map((row) => columns.map((column) => row[column])),
  );
  if (rows.some(({ executions }) => executions < 0n)) {
    await db.deleteFrom(table).where('executions', '=', 0n).execute();
  }
}

/** The outcome of an end, as in the view `ended_executions`; null while the execution is open. */
function outcomeOf(row: ExecutionRow): EndedExecutionRow['outcome'] | null {
  if (row.status === 'open') return null;
  if (row.status !== 'refunded') return row.status;
  const isHurried = row.reason === 1n && row.deadline - row.opened_at < (row.listing_timeout_seconds ?? 0n);
  return (row.reason ?? 4n) <= 3n && !isHurried ? 'failed' : 'refunded';
}

/** The figures of executions, by the keys of their rows. */
export class Figures {
  readonly listings = new Map<string, Sums>();
  readonly callers = new Map<string, CallerTotalRow>();
  readonly days = new Map<string, AgentDayRow>();

  add(row: ExecutionRow, sign: 1n | -1n): void {
    addEnd(this.listings, row, sign);
    addCalls(this.callers, row, sign);
    addDay(this.days, row, outcomeOf(row), sign);
  }

  agentStatistics(): Map<string, AgentStatisticsRow> {
    return new Map([...this.listings].map(([listing, sums]) => [listing, figuresOf(listing, sums)]));
  }
}

const NOTHING = Object.fromEntries(SUMS.map((sum) => [sum, 0n])) as Sums;

function addEnd(listings: Map<string, Sums>, row: ExecutionRow, sign: 1n | -1n): void {
  const outcome = outcomeOf(row);
  if (outcome === null) return;
  const isSettled = outcome !== 'failed' && outcome !== 'refunded';
  const time = isSettled ? row.execution_time_ms : null;
  const end: Sums = {
    total_executions: outcome === 'refunded' ? 0n : 1n,
    successful_executions: outcome === 'completed' || outcome === 'disputed' ? 1n : 0n,
    dispute_count: row.dispute_count,
    earned: row.creator_amount,
    ended_executions: 1n,
    timed_executions: time === null ? 0n : 1n,
    total_time_ms: time ?? 0n,
  };
  listings.set(row.listing, addSums(listings.get(row.listing) ?? NOTHING, end, sign));
}

function addSums(one: Sums, other: Sums, sign: 1n | -1n): Sums {
  const sums = { ...NOTHING };
  for (const sum of SUMS) sums[sum] = one[sum] + sign * other[sum];
  return sums;
}

function figuresOf(listing: string, sums: Sums): AgentStatisticsRow {
  const { total_executions: total, timed_executions: timed } = sums;
  return {
    listing,
    ...sums,
    success_rate: total === 0n ? 0 : Number(sums.successful_executions) / Number(total),
    // Half a millisecond rounds up.
    avg_execution_time_ms: timed === 0n ? 0n : (2n * sums.total_time_ms + timed) / (2n * timed),
  };
}

export function callerKey({ caller, listing, status, day }: Omit<CallerTotalRow, 'executions'>): string {
  return `${caller} ${listing} ${status} ${day}`;
}

/** An ended execution counts once under its listing and once under all. */
function addCalls(callers: Map<string, CallerTotalRow>, row: ExecutionRow, sign: 1n | -1n): void {
  const { caller, status } = row;
  if (status === 'open') return;
  const day = row.opened_at / SECONDS_PER_DAY;
  for (const listing of [row.listing, '']) {
    const key = callerKey({ caller, listing, status, day });
    const known = callers.get(key);
    if (known) known.executions += sign;
    else callers.set(key, { caller, listing, status, day, executions: sign });
  }
}

/**
 * Daily statements of a wallet, from the chain's records in the index. Each UTC day has one row, with the executions
 * that ended and the disputes that were decided. Sums are base units until the end.
 */
import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { ExecutionStatusName } from '../../../indexer/queries/tables.ts';
import { DAY_MS, DAY_SECONDS, dayOf, toDay } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import {
  type DailyStatement,
  STATEMENT_DAYS,
  type StatementQuery,
  type StatementRole,
  type StatementTotal,
} from '../../sdk/wire/wire.ts';
import type { Databases } from '../ledger/tables.ts';
import { invalid } from '../parse.ts';
import type { ChainClock } from '../waiting.ts';

export type StatementsDeps = Pick<Databases, 'views'> & ChainClock;

/** Days if the request names none. */
const USUAL_DAYS = 30;
/** Executions per batch: a few milliseconds. */
const SLICE = 1_000;

/** Amounts in base units. */
export const newSums = () => ({
  counts: { executions: 0, completed: 0, refunded: 0, disputed: 0 },
  amounts: { paid: 0n, earned: 0n, fee: 0n, refunded: 0n, returned: 0n, slashed: 0n, service_fee: 0n },
});
export type Sums = ReturnType<typeof newSums>;

/** GET /v1/statements/daily. Throws ApiError 400 for a range that is empty or too long. */
export async function readStatement(
  deps: StatementsDeps,
  wallet: string,
  { role, ...asked }: Pick<StatementQuery, 'role' | 'from' | 'to'>,
): Promise<DailyStatement> {
  const { first, last, span } = rangeOf(asked, deps.accounts.clock());
  const days = new Map(Array.from({ length: last - first + 1 }, (_, index) => [first + index, newSums()]));
  const total = newSums();
  const sumsAt = (at: bigint) => [total, days.get(dayOf(at)) ?? newSums()];
  for (const whose of await ownersOf(deps.views, role, wallet)) {
    await readEnds(deps.views, whose, span, (row) => {
      for (const sums of sumsAt(row.settled_at)) addEnd(sums, row);
    });
    await readOutcomes(deps.views, whose, span, (row) => {
      for (const sums of sumsAt(row.resolved_at)) addOutcome(sums, row);
    });
  }
  return {
    wallet,
    role,
    from: toDay(first),
    to: toDay(last),
    days: [...days].map(([day, sums]) => ({ day: toDay(day), ...shown(sums) })),
    total: shown(total),
  };
}

export type Range = { from?: string | undefined; to?: string | undefined };

/** Days since 1970, both included, and their seconds. Throws ApiError 400 for a range that is empty or too long. */
export function rangeOf({ from, to }: Range, now: bigint): { first: number; last: number; span: Span } {
  const last = to === undefined ? dayOf(now) : Math.floor(Date.parse(to) / DAY_MS);
  const first = from === undefined ? last - USUAL_DAYS + 1 : Math.floor(Date.parse(from) / DAY_MS);
  const span = { from: BigInt(first) * DAY_SECONDS, to: BigInt(last + 1) * DAY_SECONDS };
  if (first >= 0 && first <= last && last - first < STATEMENT_DAYS) return { first, last, span };
  const expected = `must be at most ${STATEMENT_DAYS} days from 1970-01-01 on, with "from" not after "to"`;
  const got = `${from ?? toDay(first)} to ${toDay(last)}`;
  throw invalid(`The range of a statement ${expected}; got ${got}`, { in: 'query', path: 'from', expected, got });
}

/** The conditions that select a wallet's rows: its calls, or those of each of its listings. */
async function ownersOf(views: StatementsDeps['views'], role: StatementRole, wallet: string) {
  if (role === 'caller') return [sql`caller = ${wallet}`];
  const own = await views.selectFrom('chain.listings').select('listing').where('creator', '=', wallet).execute();
  return own.map(({ listing }) => sql`listing = ${listing}`);
}

/** Unix seconds; `to` is exclusive. */
interface Span {
  from: bigint;
  to: bigint;
}

interface EndRow {
  execution_id: string;
  key_id: string | null;
  listing: string;
  settled_at: bigint;
  status: ExecutionStatusName;
  price: bigint;
  creator_amount: bigint;
  platform_amount: bigint;
  dispute_count: bigint;
  /** That an x402 client paid besides the price; 0 for others. */
  service_fee: bigint;
}

/** Reads in batches, so that other requests do not wait. */
export async function readEnds(
  views: StatementsDeps['views'],
  whose: RawBuilder<unknown>,
  { from, to }: Span,
  take: (row: EndRow) => void,
): Promise<void> {
  for (let last: EndRow | undefined; ; ) {
    const before = last
      ? sql`AND settled_at <= ${last.settled_at} AND (settled_at < ${last.settled_at} OR execution_id > ${last.execution_id})`
      : sql`AND settled_at < ${to}`;
    const { rows } = await sql<EndRow>`
      SELECT execution_id, key_id, listing, settled_at, status, price, creator_amount, platform_amount, dispute_count,
        coalesce((SELECT service_fee FROM chain.deposits AS d WHERE d.deposit = e.deposit), 0) AS service_fee
      FROM chain.executions AS e
      WHERE ${whose} AND status <> 'open' AND settled_at >= ${from} ${before}
      ORDER BY settled_at DESC, execution_id LIMIT ${SLICE}`.execute(views);
    for (const row of rows) take(row);
    last = rows.at(-1);
    if (!last || rows.length < SLICE) return;
    await setImmediate();
  }
}

export function addEnd({ counts, amounts }: Sums, row: EndRow): void {
  counts.executions += 1;
  amounts.service_fee += row.service_fee;
  if (row.dispute_count > 0n) counts.disputed += 1;
  if (row.status === 'refunded') {
    counts.refunded += 1;
    amounts.refunded += row.price;
    return;
  }
  counts.completed += 1;
  amounts.paid += row.creator_amount + row.platform_amount;
  amounts.earned += row.creator_amount;
  amounts.fee += row.platform_amount;
}

interface OutcomeRow {
  key_id: string | null;
  listing: string;
  resolved_at: bigint;
  amount_to_caller: bigint;
  amount_slashed: bigint;
}

/**
 * Upheld disputes, with the amounts taken from collateral. Each cost a bond, so they are few. An amount that the index
 * does not know counts as 0.
 */
export async function readOutcomes(
  views: StatementsDeps['views'],
  whose: RawBuilder<unknown>,
  { from, to }: Span,
  take: (row: OutcomeRow) => void,
): Promise<void> {
  const { rows } = await sql<OutcomeRow>`
    SELECT (SELECT key_id FROM chain.executions AS e WHERE e.execution_id = d.execution_id) AS key_id,
      listing, resolved_at, coalesce(amount_to_caller, 0) AS amount_to_caller, coalesce(amount_slashed, 0) AS amount_slashed
    FROM chain.disputes AS d
    WHERE ${whose} AND outcome = 'upheld' AND opened_at < ${to} AND resolved_at >= ${from} AND resolved_at < ${to}`.execute(
    views,
  );
  for (const row of rows) take(row);
}

export function addOutcome({ amounts }: Sums, row: OutcomeRow): void {
  amounts.returned += row.amount_to_caller;
  amounts.slashed += row.amount_slashed;
}

export const shown = ({ counts, amounts }: Sums): StatementTotal => ({
  ...counts,
  paid_usdc: toUsdc(amounts.paid),
  earned_usdc: toUsdc(amounts.earned),
  fee_usdc: toUsdc(amounts.fee),
  refunded_usdc: toUsdc(amounts.refunded),
  returned_usdc: toUsdc(amounts.returned),
  slashed_usdc: toUsdc(amounts.slashed),
  service_fee_usdc: toUsdc(amounts.service_fee),
});

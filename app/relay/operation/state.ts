/** The figures of /metrics and /ready that an operator needs at a glance, of this process and its ledger. */
import { sql } from 'kysely';
import { countRows } from '../../database/portable.ts';
import { HEARING_SECONDS } from '../../sdk/wire/choices.ts';
import type { OperationState } from '../../sdk/wire/procedures.ts';
import { DAY_MS, toTimeOfMs } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import type { Ready } from '../../sdk/wire/wire.ts';
import type { NodeStatus } from '../chain/nodes.ts';
import { countUnfinished, readBurnt, readOldestUnfinished } from '../ledger/executions.ts';
import type { Lending } from '../ledger/funding.ts';
import { readLent } from '../ledger/sums.ts';
import type { Databases } from '../ledger/tables.ts';
import { readDueDeliveries } from '../ledger/webhooks.ts';
import type { SweepFigures } from '../sweeper/sweeper.ts';
import type { Now } from '../waiting.ts';
import { type HeldDeps, readHeld } from './held.ts';
import type { RunwayStatus } from './runway.ts';

/** Agents that are named at once. */
const NAMED = 3;
/** Days of the latest executions, and of those before that they are compared with. */
const LATEST_DAYS = 7;

/** The figures of this process and its money. */
export interface Operator extends Pick<HeldDeps, 'readHeld'> {
  /** The relay authority that pays for this process's transactions. */
  authority: string;
  /** Lamports of each address. Rejects if the node does not answer. */
  readBalances(addresses: string[]): Promise<number[]>;
  nodes(): NodeStatus[];
  runway(): RunwayStatus;
  lending: Pick<Lending, 'limit' | 'returnSeconds'>;
  /** The chain's clock, unix seconds. */
  clock(): bigint;
  /** The account that pays the network fees of x402 clients' payments; null without one. Amounts are lamports. */
  x402(): { feePayer: string; lamports: number | null; minLamports: number } | null;
  /** When the ledger was compared with the chain, unix milliseconds; null before that. */
  reconciledMs(): number | null;
  /** Null before the relay sweeps. */
  swept(): Promise<SweepFigures | null>;
  /** Mean network fees of executions that ended here; null before the first. */
  lamportsPerCall(): Promise<number | null>;
}

export interface StateDeps extends Operator, Pick<Databases, 'views'>, Now {
  /** Base58, in the order of Config. */
  readAuthorities(): Promise<{ relayAuthorities: string[] }>;
  readReadiness(): Promise<Ready>;
}

export async function readState(deps: StateDeps): Promise<OperationState> {
  const { views } = deps;
  const loans = await readLent(views);
  const limit = deps.lending.limit();
  const ready = await deps.readReadiness();
  const swept = await deps.swept();
  const x402 = deps.x402();
  const oldest = await readOldestUnfinished(views);
  const reconciledMs = deps.reconciledMs();
  const webhooks = await readDueDeliveries(views, deps.now());
  return {
    problems: ready.problems,
    authorities: await readBalances(deps),
    nodes: deps.nodes(),
    runway_hours: deps.runway().hours,
    lamports_per_call: await deps.lamportsPerCall(),
    lamports: {
      lent: Number(loans.lent),
      lent_limit: Number(limit > 0n ? limit : 0n),
      free: Number(limit > loans.lent ? limit - loans.lent : 0n),
      due: Number(loans.due),
      due_seconds:
        loans.due_since === null
          ? null
          : Math.max(0, Number(loans.due_since - deps.clock()) + deps.lending.returnSeconds()),
      unclaimed: Number(loans.unclaimed),
      locked: swept?.locked ?? null,
      archivable: swept?.archivable ?? null,
      archived: swept?.returned ?? null,
      burnt_today: Number(await readBurnt(views, deps.now() - DAY_MS)),
    },
    held: await readHeld(views),
    listings: await readListings(views),
    executions_in_flight: ready.executions_in_flight,
    latest: await readLatest(deps),
    oldest_unsettled: oldest
      ? {
          execution_id: oldest.execution_id,
          state: oldest.state,
          age_seconds: Math.max(0, Math.floor((deps.now() - Number(oldest.created_ms)) / 1_000)),
        }
      : null,
    archive_waiting: swept && {
      count: swept.archivableRecords,
      oldest_seconds: swept.oldestArchivableSeconds,
      is_late: swept.isLate,
    },
    webhooks_waiting: { count: webhooks.count, oldest_seconds: Math.floor(webhooks.oldestMs / 1_000) },
    indexer: ready.indexer,
    reconciled_at: reconciledMs === null ? null : toTimeOfMs(BigInt(reconciledMs)),
    opens_paused: ready.problems.includes('opens_paused'),
    open_disputes: await countRows(views, sql`SELECT 1 FROM chain.disputes WHERE outcome = 'open'`),
    waiting_disputes: await countWaiting(deps),
    x402: x402 && {
      fee_payer: x402.feePayer,
      lamports: x402.lamports,
      min_lamports: x402.minLamports,
      open_deposits: Number((await countUnfinished(views)).deposits),
    },
    uptime_seconds: Math.floor(process.uptime()),
  };
}

const countWaiting = ({ views, clock }: StateDeps): Promise<number> =>
  countRows(
    views,
    sql`SELECT 1 FROM chain.disputes AS d
      WHERE d.outcome = 'open' AND d.opened_at > ${clock() - BigInt(HEARING_SECONDS)}
        AND NOT (
          EXISTS (SELECT 1 FROM dispute_replies AS a WHERE a.execution_id = d.execution_id)
          AND EXISTS (SELECT 1 FROM evidence AS kept
            WHERE kept.execution_id = d.execution_id AND kept.evidence_hash = d.evidence_hash)
        )`,
  );

/** Numbers of executions, and their sums in base units. */
interface Ended {
  is_before: bigint;
  ended: bigint;
  refunded: bigint;
  paid: bigint;
  earned: bigint;
}

/** The totals of all have few rows a day, however many executions and listings there are. */
async function readLatest({ views, now }: StateDeps): Promise<OperationState['latest']> {
  const first = BigInt(Math.floor(now() / DAY_MS) - LATEST_DAYS + 1);
  const { rows } = await sql<Ended>`
    SELECT CASE WHEN day < ${first} THEN 1 ELSE 0 END AS is_before, CAST(sum(executions) AS BIGINT) AS ended,
      CAST(sum(CASE WHEN outcome IN ('failed', 'refunded') THEN executions ELSE 0 END) AS BIGINT) AS refunded,
      CAST(sum(paid) AS BIGINT) AS paid, CAST(sum(earned) AS BIGINT) AS earned
    FROM chain.agent_days WHERE listing = '' AND day >= ${first - BigInt(LATEST_DAYS)}
    GROUP BY 1`.execute(views);
  const span = (isBefore: boolean) => spanOf(rows.find((row) => Boolean(Number(row.is_before)) === isBefore));
  return {
    since: toTimeOfMs(first * BigInt(DAY_MS)),
    ...span(false),
    before: span(true),
    ...(await readFailing(views, first)),
  };
}

function spanOf({ ended, refunded, paid, earned }: Ended = NOTHING) {
  return {
    paid: Number(ended - refunded),
    refunded: Number(refunded),
    paid_usdc: toUsdc(paid),
    fees_usdc: toUsdc(paid - earned),
  };
}

const NOTHING: Ended = { is_before: 0n, ended: 0n, refunded: 0n, paid: 0n, earned: 0n };

/** Executions of agents for tests, and the failures of the others. `first`: the day from which on they count. */
async function readFailing(views: StateDeps['views'], first: bigint) {
  // In this order, because SQLite does not know that these documents are few.
  const { rows: tests } = await sql<{ executions: bigint }>`
    SELECT CAST(coalesce(sum(executions), 0) AS BIGINT) AS executions
    FROM documents AS d CROSS JOIN chain.listings AS l CROSS JOIN chain.agent_days AS a
    WHERE d.is_sandbox = 1 AND l.metadata_hash = d.metadata_hash AND a.listing = l.listing AND a.day >= ${first}`.execute(
    views,
  );
  // Not by listing alone: for that, SQLite would read all days.
  const { rows: failing } = await sql<{ listing: string; failed: bigint }>`
    SELECT f.listing, CAST(sum(f.failed) AS BIGINT) AS failed
    FROM (
      SELECT listing, sum(executions) AS failed FROM chain.agent_days
      WHERE outcome IN ('failed', 'dispute_upheld') AND day >= ${first} AND listing <> '' GROUP BY day, listing
    ) AS f
    JOIN chain.listings AS l ON l.listing = f.listing LEFT JOIN documents AS d ON d.metadata_hash = l.metadata_hash
    WHERE coalesce(d.is_sandbox, 0) = 0 GROUP BY f.listing ORDER BY 2 DESC, f.listing`.execute(views);
  return {
    for_tests: Number(tests[0]!.executions),
    failed: failing.reduce((sum, { failed }) => sum + Number(failed), 0),
    failing: failing.length,
    failing_agents: failing.slice(0, NAMED).map(({ listing }) => listing),
  };
}

async function readListings(views: StateDeps['views']): Promise<OperationState['listings']> {
  const listings = await views
    .selectFrom('chain.listings')
    .select(({ fn }) => ['status', fn.countAll<bigint>().as('count')])
    .groupBy('status')
    .execute();
  const paused = await views
    .selectFrom('chain.listings')
    .select('listing')
    .where('status', '=', 'paused')
    .orderBy('listed_at', 'desc')
    .orderBy('listing')
    .limit(NAMED)
    .execute();
  const for_tests = await countRows(
    views,
    sql`SELECT 1 FROM documents AS d JOIN chain.listings AS l ON l.metadata_hash = d.metadata_hash
      WHERE d.is_sandbox = 1 AND l.status <> 'delisted'`,
  );
  const countOf = (name: string) => Number(listings.find(({ status }) => status === name)?.count ?? 0);
  return {
    active: countOf('active'),
    paused: countOf('paused'),
    for_tests,
    paused_agents: paused.map(({ listing }) => listing),
  };
}

/** If the node does not answer, our own authority shows its last known balance. */
async function readBalances(deps: StateDeps): Promise<OperationState['authorities']> {
  const { relayAuthorities } = await deps.readAuthorities();
  const balances = await deps.readBalances(relayAuthorities).catch(() => []);
  return relayAuthorities.map((address, index) => {
    const isOurs = address === deps.authority;
    const lamports = balances[index] ?? (isOurs ? deps.runway().lamports : null);
    return { address, lamports, is_ours: isOurs };
  });
}

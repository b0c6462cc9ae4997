/** The figures for Prometheus that are read on request, from partial indexes of unfinished rows or from other modules. */
import { sql } from 'kysely';
import { Counter, Gauge, type Registry } from 'prom-client';
import { attachedIndex, countGaps, readProgress } from '../../../indexer/queries/read.ts';
import { sumRows } from '../../database/portable.ts';
import { BUILD } from '../../process/build.ts';
import { droppedLines } from '../../process/logDestination.ts';
import { greatest } from '../../sdk/wire/amounts.ts';
import type { NodeStatus } from '../chain/nodes.ts';
import { countUnfinished } from '../ledger/executions.ts';
import { readLent } from '../ledger/sums.ts';
import type { Databases, JournalRow } from '../ledger/tables.ts';
import { readDueDeliveries } from '../ledger/webhooks.ts';
import type { SweepFigures } from '../sweeper/sweeper.ts';
import type { Now } from '../waiting.ts';
import { refusedRequests, waitingWork } from '../workers.ts';
import { OBSTACLES, type Obstacle } from './gate.ts';
import type { RunwayStatus } from './runway.ts';

/** How an execution ended: paid, refunded with the reason, or never opened. */
export const OUTCOMES = ['completed', 'failed', 'timeout', 'unserved', 'void'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** An execution that ended here. */
interface EndedCall extends Pick<JournalRow, 'execution_id' | 'listing' | 'wallet'> {
  outcome: Outcome;
  /** Of its error; null if it has none. */
  code: string | null;
  /** Since it was accepted. */
  ms: number;
}

export interface MetricsSources extends Pick<Databases, 'views'>, Now {
  inFlight(): number;
  /** The present reasons to refuse new executions. */
  obstacles(): Obstacle[];
  nodes(): NodeStatus[];
  runway(): RunwayStatus;
  /** Rent that may be lent at once, lamports. */
  lendingLimit(): bigint;
  /** Called with the network fees of the authority that callers did not pay for; negative if they paid more. */
  spent(lamports: bigint): void;
  /** Balance of the fee payer of x402 payments, lamports. Null without one, so that its alarm stays silent. */
  x402FeePayer: (() => number) | null;
  /** Active listings without a description here. */
  undescribed(): Promise<number>;
  /** Free bytes at the ledger. Rejects if they cannot be read. */
  freeBytes(): Promise<number>;
  /** When the newest backup was made; null if there is none here. Rejects if that cannot be read. */
  backedUpAt(): Promise<Date | null>;
  /** Called with each execution that ended. */
  ended(call: EndedCall): void;
  /** Null before the relay sweeps. */
  swept(): Promise<SweepFigures | null>;
}

/** What runs, and counters that other modules keep, read when they are shown. */
export function countElsewhere(named: ReturnType<typeof namesIn>): void {
  new Gauge({
    ...named('build_info', '1; release and build are those of this relay'),
    labelNames: Object.keys(BUILD),
  }).set({ release: BUILD.release, build: BUILD.build ?? '' }, 1);
  new Counter({
    ...named(
      'log_lines_dropped_total',
      'Log lines that were dropped because the output was blocked and the buffer was full',
    ),
    collect() {
      this.reset();
      this.inc(droppedLines());
    },
  });
  new Counter({
    ...named(
      'lane_refused_total',
      'Large requests that got 503 because the queue of their lane was full or too slow; lane "paid": known wallets',
    ),
    labelNames: ['lane'],
    collect() {
      this.reset();
      for (const [lane, count] of Object.entries(refusedRequests())) this.inc({ lane }, count);
    },
  });
  new Gauge({
    ...named('lane_waiting', 'Large requests and answers in the queue of each lane'),
    labelNames: ['lane'],
    collect() {
      for (const [lane, count] of waitingWork()) this.set({ lane }, count);
    },
  });
}

/** Names figures and registers them. */
export const namesIn = (registry: Registry) => (name: string, help: string) => ({
  name: `marketplace_${name}`,
  help,
  registers: [registry],
});

/** Each figure with its meaning. */
const FIGURES = {
  executions_in_flight: 'Executions in progress in this process',
  executions_unfinished: 'Executions of the journal that have not ended, parked ones included',
  executions_parked: 'Executions that wait for the operator, or for their refund after the deadline',
  refunds_waiting: 'Refunds that wait because their caller has no account that can receive USDC',
  deposits_open: 'Deposits of x402 clients that are neither opened nor returned',
  oldest_unsettled_seconds: 'Age of the oldest execution that has not ended; 0 if there is none',
  webhooks_waiting: 'Webhook deliveries that are due and not being sent yet',
  oldest_waiting_webhook_seconds: 'How long the oldest waiting webhook delivery has been due; 0 if there is none',
  fee_payer_lamports: 'Balance of the relay authority',
  fee_payer_runway_hours:
    'Hours until the balance of the relay authority is used up at the present rate; +Inf while nothing is spent',
  lamports_lent: 'Refundable deposits that the operator has lent and not received back, lamports',
  lamports_free: 'Refundable deposits that the operator can still lend, lamports',
  lamports_due: 'The part of lamports_lent in ended records, which comes back by the clock, lamports',
  lamports_unclaimed: 'The part of lamports_lent in refunds that their callers cannot receive yet, lamports',
  disk_free_bytes: 'Free space of the file system of DATA_DIR; NaN if it cannot be read',
  backup_age_seconds: 'Age of the newest backup in BACKUP_DIR; NaN if there is none',
  indexer_lag_seconds: 'Seconds since the indexer last read the chain; +Inf before the first time',
  index_gaps: 'Transactions of the program that the indexer could not read',
  listings_without_description: 'Active listings whose description is not in the ledger, so that they cannot be called',
  escrow_base_units: 'USDC in the escrows of all open records, by the index',
  locked_lamports: 'Refundable deposits in the records of ended executions',
  archivable_records: 'Records of ended executions that could be archived now',
  oldest_archivable_record_seconds:
    'How long the oldest of them whose deposit the operator or a gas balance lent could have been archived; 0 if there is none',
  archives_mismatched: 'Archives whose root computed from the index differs from the root on-chain',
};

/** The value of each; undefined before the relay sweeps. */
async function readAll(sources: MetricsSources): Promise<Record<keyof typeof FIGURES, number | bigint | undefined>> {
  const { views, now } = sources;
  const runway = sources.runway();
  const progress = await readProgress(attachedIndex(views));
  const unfinished = await countUnfinished(views);
  const loans = await readLent(views);
  const webhooks = await readDueDeliveries(views, now());
  const swept = await sources.swept();
  const isOpen = sql`status = 'open' AND closed = 0`;
  // A folder that this relay cannot read must not end all other figures.
  const backedUpAt = await sources.backedUpAt().catch(() => null);
  const secondsSince = (ms: number | bigint) => Math.max(0, now() - Number(ms)) / 1_000;
  return {
    executions_in_flight: sources.inFlight(),
    executions_unfinished: unfinished.rows,
    executions_parked: unfinished.parked,
    refunds_waiting: unfinished.waiting_refunds,
    deposits_open: unfinished.deposits,
    oldest_unsettled_seconds: unfinished.oldest_ms === null ? 0 : secondsSince(unfinished.oldest_ms),
    webhooks_waiting: webhooks.count,
    oldest_waiting_webhook_seconds: webhooks.oldestMs / 1_000,
    fee_payer_lamports: runway.lamports ?? 0,
    fee_payer_runway_hours: runway.hours ?? Number.POSITIVE_INFINITY,
    lamports_lent: loans.lent,
    lamports_free: greatest(0n, sources.lendingLimit() - loans.lent),
    lamports_due: loans.due,
    lamports_unclaimed: loans.unclaimed,
    disk_free_bytes: await sources.freeBytes().catch(() => Number.NaN),
    backup_age_seconds: backedUpAt ? secondsSince(backedUpAt.getTime()) : Number.NaN,
    indexer_lag_seconds: progress ? secondsSince(progress.checked_at) : Number.POSITIVE_INFINITY,
    index_gaps: await countGaps(attachedIndex(views)),
    listings_without_description: await sources.undescribed(),
    escrow_base_units: await sumRows(views, sql`SELECT price AS amount FROM chain.executions WHERE ${isOpen}`),
    locked_lamports: swept?.locked,
    archivable_records: swept?.archivableRecords,
    oldest_archivable_record_seconds: swept?.oldestArchivableSeconds,
    archives_mismatched: swept?.mismatchedTrees,
  };
}

/** The figures that are read on request. */
export function createReadings(registry: Registry, sources: MetricsSources): () => Promise<void> {
  const named = namesIn(registry);
  const gauges = Object.entries(FIGURES).map(([name, help]) => [name, new Gauge(named(name, help))] as const);
  const nodesUp = new Gauge({
    ...named('rpc_node_up', '1 while the relay uses this node, else 0'),
    labelNames: ['node'],
  });
  const nodeSlots = new Gauge({
    ...named('rpc_node_slot', 'Last slot seen from this node; only if there are several nodes'),
    labelNames: ['node'],
  });
  const problem = new Gauge({
    ...named('problem', '1 while new executions are refused for this reason, else 0; the names are those of /ready'),
    labelNames: ['problem'],
  });
  const { x402FeePayer } = sources;
  const x402Lamports =
    x402FeePayer &&
    new Gauge(named('x402_fee_payer_lamports', 'Balance of the fee payer of x402 payments; only with one'));

  return async () => {
    for (const { name, state, slot } of sources.nodes()) {
      nodesUp.set({ node: name }, state === 'up' ? 1 : 0);
      if (slot !== null) nodeSlots.set({ node: name }, slot);
    }
    const present = sources.obstacles();
    for (const name of OBSTACLES) problem.set({ problem: name }, present.includes(name) ? 1 : 0);
    if (x402FeePayer) x402Lamports?.set(x402FeePayer());
    const values = await readAll(sources);
    for (const [name, gauge] of gauges) {
      const value = values[name as keyof typeof FIGURES];
      if (value !== undefined) gauge.set(Number(value));
    }
  };
}

/** The figures for Prometheus that are read on request, from partial indexes of unfinished rows or from other modules. */
import { type Kysely, sql } from 'kysely';
import { Counter, Gauge, type Registry } from 'prom-client';
import { attachedIndex, countGaps, readProgress } from '../../../indexer/queries/read.ts';
import { BUILD } from '../../process/build.ts';
import { droppedLines } from '../../process/logDestination.ts';
import type { NodeStatus } from '../chain/nodes.ts';
import { countUnfinished } from '../ledger/executions.ts';
import { displacedSessions } from '../ledger/sessions.ts';
import { readLent } from '../ledger/sums.ts';
import type { JournalRow, LedgerDatabase } from '../ledger/tables.ts';
import { readDueDeliveries } from '../ledger/webhooks.ts';
import type { SweepFigures } from '../sweeper/sweeper.ts';
import { refusedRequests, waitingWork } from '../workers.ts';
import { OBSTACLES, type Obstacle } from './gate.ts';
import type { RunwayStatus } from './runway.ts';

/** How an execution ended: paid, refunded with the reason, or never opened. */
export const OUTCOMES = ['completed', 'failed', 'timeout', 'unserved', 'void'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** An execution that ended here. */
export interface EndedCall extends Pick<JournalRow, 'execution_id' | 'listing' | 'wallet'> {
  outcome: Outcome;
  /** Of its error; null if it has none. */
  code: string | null;
  /** Since it was accepted. */
  ms: number;
}

export interface MetricsSources {
  views: Kysely<LedgerDatabase>;
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
  /** Unix milliseconds. */
  now(): number;
}

/** What runs, and counters that other modules keep, read when they are shown. */
export function countElsewhere(named: ReturnType<typeof namesIn>['named']): void {
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
  new Counter({
    ...named('sessions_displaced_total', 'Sessions of wallets that have not paid, evicted by newer sessions'),
    collect() {
      this.reset();
      this.inc(displacedSessions());
    },
  });
}

/** Names figures and registers them. */
export function namesIn(registry: Registry) {
  const named = (name: string, help: string) => ({ name: `marketplace_${name}`, help, registers: [registry] });
  return { named, gauge: (name: string, help: string) => new Gauge(named(name, help)) };
}

/** The figures of what the operator lends. */
function createLoans(registry: Registry, { views, lendingLimit }: MetricsSources): () => Promise<void> {
  const { gauge } = namesIn(registry);
  const figures = {
    lent: gauge('lamports_lent', 'Refundable deposits that the operator has lent and not received back, lamports'),
    free: gauge('lamports_free', 'Refundable deposits that the operator can still lend, lamports'),
    due: gauge('lamports_due', 'The part of lamports_lent in ended records, which comes back by the clock, lamports'),
    unclaimed: gauge(
      'lamports_unclaimed',
      'The part of lamports_lent in refunds that their callers cannot receive yet, lamports',
    ),
  };
  return async () => {
    const { lent, due, unclaimed } = await readLent(views);
    figures.lent.set(Number(lent));
    figures.free.set(Math.max(0, Number(lendingLimit() - lent)));
    figures.due.set(Number(due));
    figures.unclaimed.set(Number(unclaimed));
  };
}

/** The figures of the archive. */
function createSweep(registry: Registry, { swept: readSwept }: MetricsSources): () => Promise<void> {
  const { gauge } = namesIn(registry);
  const locked = gauge('locked_lamports', 'Refundable deposits in the records of ended executions');
  const archivable = gauge('archivable_lamports', 'Refundable deposits in records that could be archived now');
  const ripe = gauge('archivable_records', 'Records of ended executions that could be archived now');
  const oldestRipe = gauge(
    'oldest_archivable_record_seconds',
    'How long the oldest of them whose deposit the operator or a gas balance lent could have been archived; 0 if there is none',
  );
  const archived = gauge('archived_lamports', 'Refundable deposits that this process has returned since it started');
  const leaves = gauge('archived_executions', 'Executions in all archives');
  const mismatched = gauge(
    'archives_mismatched',
    'Archives whose root computed from the index differs from the root on-chain',
  );

  return async () => {
    const swept = await readSwept();
    if (!swept) return;
    locked.set(swept.locked);
    archivable.set(swept.archivable);
    ripe.set(swept.archivableRecords);
    oldestRipe.set(swept.oldestArchivableSeconds);
    archived.set(swept.returned);
    leaves.set(swept.archivedExecutions);
    mismatched.set(swept.mismatchedTrees);
  };
}

/** The figures that are read on request. */
export function createReadings(registry: Registry, sources: MetricsSources): () => Promise<void> {
  const { named, gauge } = namesIn(registry);
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
  const loans = createLoans(registry, sources);
  const sweep = createSweep(registry, sources);
  const inFlight = gauge('executions_in_flight', 'Executions in progress in this process');
  const unfinished = gauge(
    'executions_unfinished',
    'Executions of the journal that have not ended, parked ones included',
  );
  const parked = gauge(
    'executions_parked',
    'Executions that wait for the operator, or for their refund after the deadline',
  );
  const refunds = gauge(
    'refunds_waiting',
    'Refunds that wait because their caller has no account that can receive USDC',
  );
  const oldest = gauge(
    'oldest_unsettled_seconds',
    'Age of the oldest execution that has not ended; 0 if there is none',
  );
  const webhooks = gauge('webhooks_waiting', 'Webhook deliveries that are due and not being sent yet');
  const oldestWebhook = gauge(
    'oldest_waiting_webhook_seconds',
    'How long the oldest waiting webhook delivery has been due; 0 if there is none',
  );
  const lamports = gauge('fee_payer_lamports', 'Balance of the relay authority');
  const { x402FeePayer } = sources;
  const x402Lamports =
    x402FeePayer && gauge('x402_fee_payer_lamports', 'Balance of the fee payer of x402 payments; only with one');
  const free = gauge('disk_free_bytes', 'Free space of the file system of DATA_DIR; NaN if it cannot be read');
  const backup = gauge('backup_age_seconds', 'Age of the newest backup in BACKUP_DIR; NaN if there is none');
  const deposits = gauge('deposits_open', 'Deposits of x402 clients that are neither opened nor returned');
  const runway = gauge(
    'fee_payer_runway_hours',
    'Hours until the balance of the relay authority is used up at the present rate; +Inf while nothing is spent',
  );
  const lag = gauge('indexer_lag_seconds', 'Seconds since the indexer last read the chain; +Inf before the first time');
  const slot = gauge('indexer_slot', 'Slot up to which the index is complete');
  const gaps = gauge('index_gaps', 'Transactions of the program that the indexer could not read');
  const undescribed = gauge(
    'listings_without_description',
    'Active listings whose description is not in the ledger, so that they cannot be called',
  );
  const escrow = gauge('escrow_base_units', 'USDC in the escrows of all open records, by the index');

  return async () => {
    const { views } = sources;
    for (const { name, state, slot: at } of sources.nodes()) {
      nodesUp.set({ node: name }, state === 'up' ? 1 : 0);
      if (at !== null) nodeSlots.set({ node: name }, at);
    }
    const present = sources.obstacles();
    for (const name of OBSTACLES) problem.set({ problem: name }, present.includes(name) ? 1 : 0);
    const waiting = await countUnfinished(views);
    const held = await views
      .selectFrom('chain.executions')
      .select((select) => select.fn.sum<bigint | null>('price').as('total'))
      .where(sql<boolean>`status = 'open' AND closed = 0`)
      .executeTakeFirstOrThrow();
    await loans();
    const progress = await readProgress(attachedIndex(views));
    const secondsSince = (ms: bigint) => Math.max(0, sources.now() - Number(ms)) / 1_000;
    inFlight.set(sources.inFlight());
    unfinished.set(Number(waiting.rows));
    parked.set(Number(waiting.parked));
    refunds.set(Number(waiting.waiting_refunds));
    oldest.set(waiting.oldest_ms === null ? 0 : secondsSince(waiting.oldest_ms));
    const due = await readDueDeliveries(views, sources.now());
    webhooks.set(due.count);
    oldestWebhook.set(due.oldestMs / 1_000);
    escrow.set(Number(held.total ?? 0n));
    lag.set(progress ? secondsSince(progress.checked_at) : Number.POSITIVE_INFINITY);
    slot.set(Number(progress?.slot ?? 0n));
    undescribed.set(await sources.undescribed());
    gaps.set(await countGaps(attachedIndex(views)));
    const { lamports: balance, hours } = sources.runway();
    lamports.set(balance ?? 0);
    if (x402FeePayer) x402Lamports?.set(x402FeePayer());
    free.set(await sources.freeBytes().catch(() => Number.NaN));
    // A folder that this relay cannot read must not end all other figures.
    const backedUpAt = await sources.backedUpAt().catch(() => null);
    backup.set(backedUpAt ? secondsSince(BigInt(backedUpAt.getTime())) : Number.NaN);
    deposits.set(Number(waiting.deposits));
    runway.set(hours ?? Number.POSITIVE_INFINITY);
    await sweep();
  };
}

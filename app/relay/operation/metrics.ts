/**
 * The relay's figures for Prometheus. Counters and times are recorded as events happen. The rest is read on request,
 * from partial indexes of unfinished rows. Amounts are base units, times are seconds.
 */
import { type Kysely, sql } from 'kysely';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { attachedIndex, countGaps, readProgress } from '../../../indexer/queries/read.ts';
import { BUILD } from '../../process/build.ts';
import { droppedLines } from '../../process/logDestination.ts';
import { least } from '../../sdk/wire/amounts.ts';
import type { ErrorCode } from '../../sdk/wire/errorCodes.ts';
import { gasOfShare } from '../chain/fees.ts';
import type { NodeStatus } from '../chain/nodes.ts';
import type { Observe } from '../chain/stages.ts';
import { countUnfinished } from '../ledger/executions.ts';
import { readLent } from '../ledger/funding.ts';
import type { Journal } from '../ledger/journal.ts';
import type { Moving } from '../ledger/moves.ts';
import type { Paying } from '../ledger/notes.ts';
import { displacedSessions } from '../ledger/sessions.ts';
import type { JournalRow, LedgerDatabase } from '../ledger/tables.ts';
import { feesOfAuthority, landedOf, paidFees } from '../ledger/transactions.ts';
import { readDueDeliveries } from '../ledger/webhooks.ts';
import type { SweepFigures } from '../sweeper/sweeper.ts';
import { refusedRequests, waitingWork } from '../workers.ts';
import { OBSTACLES, type Obstacle } from './gate.ts';
import type { RunwayStatus } from './runway.ts';

/** Seconds: up to an agent's longest timeout and the time until anyone may refund. */
const CALL_BUCKETS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600, 7_200];
const STAGE_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Uses of lamports, counted when an execution ends. */
const LAMPORTS = {
  fees: 'Network fees of the transactions of ended executions',
  collected: 'Gas collected from callers when executions ended',
  burnt: 'Network fees of failed transactions that nobody has paid for',
  repaid: 'Such fees that later calls of their wallets repaid',
} as const;
/** How an execution ended: paid, refunded with the reason, or never opened. */
const OUTCOMES = ['completed', 'failed', 'timeout', 'unserved', 'void'] as const;
export type Outcome = (typeof OUTCOMES)[number];
/** Shown from the start: an alarm is set on the first, and the others are the most usual. */
const USUAL_REFUSALS: ErrorCode[] = ['service_unavailable', 'insufficient_balance', 'rate_limited'];

export interface Metrics {
  /** Records how long each stage of a call takes. */
  observe: Observe;
  /** Counts an answer to an HTTP request. */
  answered(status: number): void;
  /** Counts a paid call that was refused before any money moved. */
  refused(code: ErrorCode): void;
  /** Counts a failed call to the node. */
  rpcFailed(method: string): void;
  /** Counts an answer 500 that is this service's fault. */
  faulted(): void;
  /** Counts a disagreement of two nodes. */
  rpcDisagreed(): void;
  /** Wraps the journal, and counts each execution that ends. */
  listenTo(journal: Journal): Journal;
  /** Mean network fees of executions that ended here, lamports; null before the first. */
  lamportsPerCall(): Promise<number | null>;
  /** All figures in Prometheus' format. */
  render(): Promise<string>;
}

/** An execution that ended here. */
export interface EndedCall extends Pick<JournalRow, 'execution_id' | 'listing' | 'wallet'> {
  outcome: Outcome;
  /** Of its error; null if it has none. */
  code: string | null;
  /** Since it was accepted. */
  ms: number;
}

interface MetricsSources {
  views: Kysely<LedgerDatabase>;
  inFlight(): number;
  /** The present reasons to refuse new executions. */
  obstacles(): Obstacle[];
  nodes(): NodeStatus[];
  runway(): RunwayStatus;
  /** Rent that may be lent at once, lamports. */
  lendingLimit(): bigint;
  /** Told the network fees of the authority that callers did not pay for; negative if they paid more. */
  spent(lamports: bigint): void;
  /** Balance of the fee payer of x402 payments, lamports. Null without one, so that its alarm stays silent. */
  x402FeePayer: (() => number) | null;
  /** Active listings without a description here. */
  undescribed(): Promise<number>;
  /** Free bytes at the ledger. Rejects if they cannot be read. */
  freeBytes(): Promise<number>;
  /** When the newest backup was made; null if there is none here. Rejects if that cannot be read. */
  backedUpAt(): Promise<Date | null>;
  /** Told of each execution that ended. */
  ended(call: EndedCall): void;
  /** Null before the relay sweeps. */
  swept(): Promise<SweepFigures | null>;
  /** Unix milliseconds. */
  now(): number;
}

export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { named } = namesIn(registry);
  const look = createReadings(registry, sources);
  countElsewhere(named);

  const calls = new Histogram({
    ...named('call_seconds', 'Time of executions that ended at this relay, from their acceptance to their end'),
    labelNames: ['outcome'],
    buckets: CALL_BUCKETS,
  });
  // Until its first value, a figure without a start value looks as if it did not exist.
  for (const outcome of OUTCOMES) calls.zero({ outcome });
  const refusals = new Counter({
    ...named('call_refusals_total', 'Paid calls that were refused before any money moved, by the code of the error'),
    labelNames: ['code'],
  });
  for (const code of USUAL_REFUSALS) refusals.inc({ code }, 0);
  const stages = new Histogram({
    ...named(
      'stage_seconds',
      'Time of each stage of a call; chain and creator are time spent waiting for the node and for the creator',
    ),
    labelNames: ['stage'],
    buckets: STAGE_BUCKETS,
  });
  const rpcErrors = new Counter({
    ...named('rpc_errors_total', 'Calls to the node that failed'),
    labelNames: ['method'],
  });
  const disagreements = new Counter(
    named(
      'rpc_disagreements_total',
      'Reads that decide about money in which two nodes disagreed; the relay then waits',
    ),
  );
  const answers = new Counter({
    ...named('http_answers_total', 'Answers to HTTP requests by status; 500 also when a creator failed'),
    labelNames: ['status'],
  });
  for (const status of [200, 500, 503]) answers.inc({ status }, 0);
  const faults = new Counter(named('faults_total', 'Requests that failed through a fault of this service'));
  const counters = Object.entries(LAMPORTS).map(([kind, help]) => {
    return [kind, new Counter(named(`lamports_${kind}_total`, `${help}, lamports`))] as const;
  });
  const lamportsOf = Object.fromEntries(counters) as Record<keyof typeof LAMPORTS, Counter>;
  const count = (kind: keyof typeof LAMPORTS, amount: bigint) => lamportsOf[kind].inc(Number(amount));
  /** Counts the fees of an ended row. `gas` is the gas that its record paid to the relay. */
  function countFees(row: Paying & Pick<JournalRow, 'transactions'>, gas: bigint): void {
    const isOpened = row.opened_at !== null;
    const collected = (isOpened ? row.fee_lamports : 0n) + gas;
    count('fees', paidFees(row));
    count('collected', collected);
    if (isOpened) count('repaid', row.repaid_lamports);
    sources.spent(feesOfAuthority(row) - collected);
  }

  function end(row: Moving & Paying, outcome: Outcome, code = row.error_code): void {
    const ms = Math.max(0, sources.now() - Number(row.created_ms));
    calls.observe({ outcome }, ms / 1_000);
    const { execution_id, listing, wallet } = row;
    sources.ended({ execution_id, listing, wallet, outcome, code, ms });
  }

  return {
    observe: (stage, ms) => stages.observe({ stage }, ms / 1_000),
    answered: (status) => answers.inc({ status }),
    refused: (code) => refusals.inc({ code }),
    rpcFailed: (method) => rpcErrors.inc({ method }),
    faulted: () => faults.inc(),
    rpcDisagreed: () => disagreements.inc(),
    listenTo: (journal) => ({
      ...journal,
      async settled(row, outcome) {
        await journal.settled(row, outcome);
        end(row, 'completed');
        countFees(row, gasTaken(row));
      },
      async refunded(row, settledAt, landed) {
        await journal.refunded(row, settledAt, landed);
        end(row, refundOutcome(row.error_code));
        // If somebody else sent the refund, the gas returned to the wallet.
        countFees(row, landed ? row.gas_lamports : 0n);
      },
      async returned(row, returnedAt, how) {
        await journal.returned(row, returnedAt, how);
        end(row, 'unserved', how?.why?.code);
        countFees(row, 0n);
      },
      async void(row, code, message, slot) {
        await journal.void(row, code, message, slot);
        end(row, 'void', code);
        countFees(row, 0n);
      },
      async failed(row, signed, culprit) {
        const lamports = await journal.failed(row, signed, culprit);
        count('burnt', lamports);
        return lamports;
      },
      async burnt(row, lost, culprit) {
        const lamports = await journal.burnt(row, lost, culprit);
        count('burnt', lamports);
        return lamports;
      },
    }),
    async lamportsPerCall() {
      const { values } = await calls.get();
      const count = values
        .filter(({ metricName, labels }) => metricName?.endsWith('_count') && labels.outcome !== 'void')
        .reduce((sum, { value }) => sum + value, 0);
      const fees = (await lamportsOf.fees.get()).values[0]?.value ?? 0;
      return count === 0 ? null : Math.round(fees / count);
    },
    async render() {
      await look();
      return registry.metrics();
    },
  };
}

/** What runs, and counters that other modules keep, read when they are shown. */
function countElsewhere(named: ReturnType<typeof namesIn>['named']): void {
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

function refundOutcome(errorCode: string | null): Outcome {
  if (errorCode === 'execution_timeout') return 'timeout';
  return errorCode === 'execution_failed' ? 'failed' : 'unserved';
}

/** Names figures and registers them. */
function namesIn(registry: Registry) {
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
function createReadings(registry: Registry, sources: MetricsSources): () => Promise<void> {
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

/** Lamports of the gas that a settled row's record paid to the relay: all of it, unless other calls shared the settle. */
function gasTaken(row: Pick<JournalRow, 'gas_lamports' | 'transactions'>): bigint {
  const settle = landedOf(row, 'settle');
  const isShared = settle !== undefined && settle.whole_fee !== settle.fee;
  return isShared ? least(row.gas_lamports, gasOfShare(settle.fee)) : row.gas_lamports;
}

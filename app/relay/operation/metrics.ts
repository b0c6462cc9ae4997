/**
 * The relay's figures for Prometheus. Counters and times are recorded as events happen. The rest is read on request,
 * from partial indexes of unfinished rows. Amounts are base units, times are seconds.
 */
import { type Kysely, sql } from 'kysely';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { attachedIndex, countGaps, readProgress } from '../../../indexer/read.ts';
import { droppedLines } from '../../process/logDestination.ts';
import type { NodeStatus } from '../chain/nodes.ts';
import type { Observe } from '../chain/stages.ts';
import { countUnfinished } from '../ledger/executions.ts';
import { readLent } from '../ledger/funding.ts';
import type { Journal } from '../ledger/journal.ts';
import type { Paying } from '../ledger/notes.ts';
import { displacedSessions } from '../ledger/sessions.ts';
import type { JournalRow, LedgerDatabase } from '../ledger/tables.ts';
import { feesOfAuthority, paidFees } from '../ledger/transactions.ts';
import { readDueDeliveries } from '../ledger/webhooks.ts';
import type { SweepFigures } from '../sweeper/sweeper.ts';
import { refusedRequests, waitingWork } from '../workers.ts';
import type { RunwayStatus } from './runway.ts';

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

export interface Metrics {
  /** Records how long each stage of a call takes. */
  observe: Observe;
  /** Counts an answer to an HTTP request. */
  answered(status: number): void;
  /** Counts a failed call to the node. */
  rpcFailed(method: string): void;
  /** Records if another deployment signs with our relay authority. */
  authorityShared(isShared: boolean): void;
  /** Counts a disagreement of two nodes. */
  rpcDisagreed(subject: string): void;
  /** Wraps the journal, and counts each execution that ends. */
  listenTo(journal: Journal): Journal;
  /** Mean network fees of executions that ended here, lamports; null before the first. */
  lamportsPerCall(): Promise<number | null>;
  /** All figures in Prometheus' format. */
  render(): Promise<string>;
}

interface MetricsSources {
  views: Kysely<LedgerDatabase>;
  inFlight(): number;
  nodes(): NodeStatus[];
  runway(): RunwayStatus;
  /** Rent that may be lent at once, lamports. */
  lendingLimit(): bigint;
  /** Told the network fees of the authority that callers did not pay for; negative if they paid more. */
  spent(lamports: bigint): void;
  /** Balance of the fee payer of x402 payments, lamports; null without one. */
  x402FeePayer(): number | null;
  /** Null before the relay sweeps. */
  swept(): Promise<SweepFigures | null>;
  /** Unix milliseconds. */
  now(): number;
}

export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { named, gauge } = namesIn(registry);
  const look = createReadings(registry, sources);
  countElsewhere(named);

  const ended = new Counter({
    ...named('executions_total', 'Executions that ended at this relay'),
    labelNames: ['outcome'],
  });
  // Until its first increment, a counter without a start value looks as if it did not exist.
  for (const outcome of OUTCOMES) ended.inc({ outcome }, 0);
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
  const disagreements = new Counter({
    ...named(
      'rpc_disagreements_total',
      'Reads that decide about money in which two nodes disagreed; the relay then waits',
    ),
    labelNames: ['subject'],
  });
  const answers = new Counter({
    ...named('http_answers_total', 'Answers to HTTP requests by status; 500 also when a creator failed'),
    labelNames: ['status'],
  });
  for (const status of [200, 500, 503]) answers.inc({ status }, 0);
  const shared = gauge('authority_shared', '1 while another deployment signs with this relay authority');
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

  return {
    observe: (stage, ms) => stages.observe({ stage }, ms / 1_000),
    answered: (status) => answers.inc({ status }),
    rpcFailed: (method) => rpcErrors.inc({ method }),
    authorityShared: (isShared) => shared.set(isShared ? 1 : 0),
    rpcDisagreed: (subject) => disagreements.inc({ subject }),
    listenTo: (journal) => ({
      ...journal,
      async settled(row, outcome) {
        await journal.settled(row, outcome);
        ended.inc({ outcome: 'completed' });
        countFees(row, row.gas_lamports);
      },
      async refunded(row, settledAt, landed) {
        await journal.refunded(row, settledAt, landed);
        ended.inc({ outcome: refundOutcome(row.error_code) });
        // If somebody else sent the refund, the gas returned to the wallet.
        countFees(row, landed ? row.gas_lamports : 0n);
      },
      async returned(row, returnedAt, how) {
        await journal.returned(row, returnedAt, how);
        ended.inc({ outcome: 'unserved' });
        countFees(row, 0n);
      },
      async void(row, code, message, slot) {
        await journal.void(row, code, message, slot);
        ended.inc({ outcome: 'void' });
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
      const { values } = await ended.get();
      const calls = values.reduce((sum, { labels, value }) => sum + (labels.outcome === 'void' ? 0 : value), 0);
      const fees = (await lamportsOf.fees.get()).values[0]?.value ?? 0;
      return calls === 0 ? null : Math.round(fees / calls);
    },
    async render() {
      await look();
      return registry.metrics();
    },
  };
}

/** Counters that other modules keep, read when they are shown. */
function countElsewhere(named: ReturnType<typeof namesIn>['named']): void {
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

function refundOutcome(errorCode: string | null): (typeof OUTCOMES)[number] {
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
  const loans = createLoans(registry, sources);
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
  const x402Lamports = gauge('x402_fee_payer_lamports', 'Balance of the fee payer of x402 payments; 0 without one');
  const deposits = gauge('deposits_open', 'Deposits of x402 clients that are neither opened nor returned');
  const runway = gauge(
    'fee_payer_runway_hours',
    'Hours until the balance of the relay authority is used up at the present rate; +Inf while nothing is spent',
  );
  const lag = gauge('indexer_lag_seconds', 'Seconds since the indexer last read the chain; +Inf before the first time');
  const slot = gauge('indexer_slot', 'Slot up to which the index is complete');
  const gaps = gauge('index_gaps', 'Transactions of the program that the indexer could not read');
  const escrow = gauge('escrow_base_units', 'USDC in the escrows of all open records, by the index');

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
    const { views } = sources;
    for (const { name, state, slot: at } of sources.nodes()) {
      nodesUp.set({ node: name }, state === 'up' ? 1 : 0);
      if (at !== null) nodeSlots.set({ node: name }, at);
    }
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
    gaps.set(await countGaps(attachedIndex(views)));
    const { lamports: balance, hours } = sources.runway();
    lamports.set(balance ?? 0);
    x402Lamports.set(sources.x402FeePayer() ?? 0);
    deposits.set(Number(waiting.deposits));
    runway.set(hours ?? Number.POSITIVE_INFINITY);
    const swept = await sources.swept();
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

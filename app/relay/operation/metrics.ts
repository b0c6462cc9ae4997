/**
 * The relay's figures for Prometheus. Counters and times are recorded as events happen. The rest is read on request,
 * from partial indexes of unfinished rows. Amounts are base units, times are seconds.
 */
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { least } from '../../sdk/wire/amounts.ts';
import type { ErrorCode } from '../../sdk/wire/errorCodes.ts';
import { gasOfShare } from '../chain/fees.ts';
import type { Observe } from '../chain/stages.ts';
import type { Journal } from '../ledger/journal.ts';
import type { Moving } from '../ledger/moves.ts';
import type { Paying } from '../ledger/notes.ts';
import type { JournalRow, TransactionRow } from '../ledger/tables.ts';
import { feesOfAuthority, isShared, landedOf, paidFees } from '../ledger/transactions.ts';
import { countElsewhere, createReadings, type MetricsSources, namesIn, OUTCOMES, type Outcome } from './readings.ts';

/** Seconds: up to an agent's longest timeout and the time until anyone may refund. */
const CALL_BUCKETS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600, 7_200];
const STAGE_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Calls in a transaction. */
const SHARED_BUCKETS = [2, 3, 4, 5, 6, 7, 8];
/** Uses of lamports, counted when an execution ends. */
const LAMPORTS = {
  fees: 'Network fees of the transactions of ended executions',
  collected: 'Gas collected from callers when executions ended',
  burnt: 'Network fees of failed transactions that nobody has paid for',
  repaid: 'Such fees that later calls of their wallets repaid',
} as const;

/** Shown from the start: an alarm is set on the first, and the others are the most usual. */
const USUAL_REFUSALS: ErrorCode[] = ['service_unavailable', 'insufficient_balance', 'rate_limited'];

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics(sources: MetricsSources) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const named = namesIn(registry);
  const poll = createReadings(registry, sources);
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
  const lamportsOf = countersOfLamports(named);
  const count = (kind: keyof typeof LAMPORTS, amount: bigint) => lamportsOf[kind].inc(Number(amount));
  async function countBurnt(burning: Promise<bigint>): Promise<bigint> {
    const lamports = await burning;
    count('burnt', lamports);
    return lamports;
  }
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
    /** Records how long each stage of a call takes. */
    observe: ((stage, ms) => stages.observe({ stage }, ms / 1_000)) as Observe,
    /** Counts an answer to an HTTP request. */
    answered: (status: number) => answers.inc({ status }),
    /** Counts a paid call that was refused before any money moved. */
    refused: (code: ErrorCode) => refusals.inc({ code }),
    /** Counts a failed call to the node. */
    rpcFailed: (method: string) => rpcErrors.inc({ method }),
    /** Counts an answer 500 that is this service's fault. */
    faulted: () => faults.inc(),
    /** Counts a disagreement of two nodes. */
    rpcDisagreed: () => disagreements.inc(),
    /** Wraps the journal, and counts each execution that ends. */
    listenTo: (journal: Journal): Journal => ({
      ...journal,
      intendShared: countShared(named, journal),
      async settled(row, outcome) {
        await journal.settled(row, outcome);
        end(row, 'completed');
        countFees(row, gasTaken(row, landedOf(row, 'settle')));
      },
      async refunded(row, settledAt, landed) {
        await journal.refunded(row, settledAt, landed);
        end(row, refundOutcome(row.error_code));
        // If somebody else sent the refund, the gas returned to the wallet.
        countFees(row, landed ? gasTaken(row, landed) : 0n);
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
      failed: (row, signed, culprit) => countBurnt(journal.failed(row, signed, culprit)),
      burnt: (row, lost, culprit) => countBurnt(journal.burnt(row, lost, culprit)),
    }),
    /** Mean network fees of executions that ended here, lamports; null before the first. */
    lamportsPerCall: () => meanFees(calls, lamportsOf.fees),
    /** All figures in Prometheus' format. */
    async render(): Promise<string> {
      await poll();
      return registry.metrics();
    },
  };
}

function countersOfLamports(named: ReturnType<typeof namesIn>): Record<keyof typeof LAMPORTS, Counter> {
  const counters = Object.entries(LAMPORTS).map(([kind, help]) => {
    return [kind, new Counter(named(`lamports_${kind}_total`, `${help}, lamports`))] as const;
  });
  return Object.fromEntries(counters) as Record<keyof typeof LAMPORTS, Counter>;
}

/** Mean fees of the calls that were opened, lamports; null if there are none. */
async function meanFees(calls: Histogram<'outcome'>, fees: Counter): Promise<number | null> {
  const { values } = await calls.get();
  const count = values
    .filter(({ metricName, labels }) => metricName?.endsWith('_count') && labels.outcome !== 'void')
    .reduce((sum, { value }) => sum + value, 0);
  const sum = (await fees.get()).values[0]?.value ?? 0;
  return count === 0 ? null : Math.round(sum / count);
}

/** Counts the calls of each transaction that several calls share. */
function countShared(
  named: ReturnType<typeof namesIn>,
  { intendShared }: Pick<Journal, 'intendShared'>,
): Journal['intendShared'] {
  const shared = new Histogram({
    ...named('shared_transaction_calls', 'Calls in each transaction that several calls shared, by its kind'),
    labelNames: ['kind'],
    buckets: SHARED_BUCKETS,
  });
  return async (moves, kind, signed) => {
    await intendShared(moves, kind, signed);
    shared.observe({ kind }, moves.length);
  };
}

function refundOutcome(errorCode: string | null): Outcome {
  if (errorCode === 'execution_timeout') return 'timeout';
  return errorCode === 'execution_failed' ? 'failed' : 'unserved';
}

/** Lamports of the gas that an ended record paid to the relay: all of it, unless other calls shared its last transaction. */
function gasTaken({ gas_lamports: gas }: Pick<JournalRow, 'gas_lamports'>, landed: TransactionRow | undefined): bigint {
  return landed && isShared(landed) ? least(gas, gasOfShare(landed.fee)) : gas;
}

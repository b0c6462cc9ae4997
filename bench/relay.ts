/**
 * Measures the latency of a synchronous call to an instant creator, and of bare confirmed SPL transfers on the same
 * node. Calls and transfers alternate, under the same conditions. Then measures the rate of many parallel callers. Each
 * number of callers gets a fresh node, so none starts with another's history. Last, it measures how fast the records of
 * ended calls are archived.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransferInstruction } from '@solana/spl-token';
import { type Connection, Keypair, type PublicKey, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { constants, decodeAccount, findArchive, findTokenAccount } from '../app/sdk/program/program.ts';
import { request, startMarketplace } from '../tests/harness/node/marketplace.ts';
import { atLeast, atMost, median, type Percentiles, percentiles, round, spread, toTable } from './figures.ts';
import type { Part } from './part.ts';

/** Numbers of parallel callers. */
const CALLERS = [1, 16, 64];
/** How often the archive's count is read. */
const LOOK_MS = 50;

export interface RelayBenchOptions {
  /** Calls per figure and round. */
  count: number;
  rounds: number;
  warmUp: number;
  /** Records that are archived in one measurement. */
  records: number;
  slotTimeMs: number;
  report: (line: string) => void;
}

export interface RelayFigures {
  slot_ms: number;
  transfer_ms: Percentiles;
  /** Two transfers, the second sent after the first is confirmed: the least time of two dependent transactions. */
  two_transfers_ms: Percentiles;
  call_ms: Percentiles;
  /** Median of each stage of the calls. */
  stages_ms: Record<string, number>;
  /** Latency of the call minus the time of chain and creator. */
  relay_ms: Percentiles;
  per_second: Record<string, number>;
  archived_per_second: number;
  /** Peak memory of relay and indexer. */
  rss_mb: number;
  failures: number;
}

interface Timings {
  timings: Record<string, number>;
  rss: number;
}

export const relayPart: Part = {
  about: 'time and rate of a paid call on the local node',
  async run({ quick, slotMs, report }) {
    const figures = await benchRelay({
      count: quick ? 30 : 100,
      rounds: quick ? 1 : 3,
      warmUp: quick ? 5 : 20,
      records: quick ? 480 : 1_920,
      slotTimeMs: slotMs,
      report,
    });
    const { call_ms, transfer_ms } = figures;
    const limit = round(2 * transfer_ms.p50 + 50);
    const goals = [
      atMost('paid call, median ms: two transfers and 50 ms', limit, call_ms.p50),
      atLeast('records archived a second', 150, figures.archived_per_second),
    ];
    return { figures, table: describe(figures), goals };
  },
};

/** Starts a marketplace on a fresh node. */
async function startStage({ slotTimeMs, report }: RelayBenchOptions) {
  const environment = { OBSERVE: '1', ARCHIVE_WAIT_SECONDS: '0' };
  const market = await startMarketplace({ slotTimeMs, price: '0.01', environment });
  const [caller] = market.callers;
  const child = market.relay.process;
  let failures = 0;
  return {
    market,
    failures: () => failures,
    askTimings: (): Promise<Timings> =>
      new Promise((resolve) => {
        child.once('message', (message) => resolve(message as Timings));
        child.send('timings');
      }),
    /** Makes one paid call; returns its milliseconds. */
    async call(): Promise<number> {
      const started = performance.now();
      const answer = await request(market.relay.url, `/v1/agents/${market.agentId}/execute`, {
        apiKey: caller!.apiKey,
        body: { task: 'bench' },
      });
      if (answer.status !== 200) {
        failures += 1;
        report(`a call was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      }
      return performance.now() - started;
    },
  };
}

/** Makes `calls` calls with `callers` in parallel. Returns the milliseconds of each call. */
export async function many(call: () => Promise<number>, callers: number, calls: number): Promise<number[]> {
  const times: number[] = [];
  let left = calls;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (left > 0) {
        left -= 1;
        times.push(await call());
      }
    }),
  );
  return times;
}

export async function benchRelay(options: RelayBenchOptions): Promise<RelayFigures> {
  const per_second: Record<string, number> = {};
  let [rss, failures] = [0, 0];
  for (const callers of CALLERS) {
    const rates: number[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const measured = await measureRate(options, callers);
      rates.push(measured.rate);
      rss = Math.max(rss, measured.rss);
      failures += measured.failures;
    }
    per_second[callers] = median(rates);
    options.report(`relay: ${callers} at once, ${per_second[callers]!.toFixed(1)} calls/s`);
  }
  const archived: number[] = [];
  for (let round = 0; round < options.rounds; round += 1) archived.push(await measureArchive(options));
  options.report(`relay: ${median(archived).toFixed(1)} records archived/s`);
  const { times, ...alone } = await measureTimes(options);
  return {
    ...times,
    per_second,
    archived_per_second: median(archived),
    rss_mb: Math.max(rss, alone.rss) / 2 ** 20,
    failures: failures + alone.failures,
  };
}

/** Calls per second of this many parallel callers on a fresh node. */
async function measureRate(options: RelayBenchOptions, callers: number) {
  const { market, call, askTimings, failures } = await startStage(options);
  try {
    for (let i = 0; i < options.warmUp; i += 1) await call();
    const started = performance.now();
    await many(call, callers, options.count);
    const rate = options.count / ((performance.now() - started) / 1_000);
    return { rate, rss: (await askTimings()).rss, failures: failures() };
  } finally {
    await market.stop();
  }
}

/** Records archived a second, from the first transaction to the last; all of them can be archived at once. */
async function measureArchive(options: RelayBenchOptions): Promise<number> {
  const { records } = options;
  const { market, call } = await startStage(options);
  const { connection } = market.node;
  const archived = async () => {
    const account = await connection.getAccountInfo(findArchive(0), 'confirmed');
    return account ? decodeAccount('Archive', account.data).count : 0;
  };
  const until = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo())) await sleep(LOOK_MS);
    return performance.now();
  };
  try {
    await many(call, CALLERS.at(-1)!, records);
    await until(async () => {
      const [row] = await market.query('index', "SELECT count(*) AS ended FROM executions WHERE status <> 'open'");
      return Number(row.ended) >= records;
    });
    await market.node.timeTravel((await market.node.now()) + constants.recordSecondsMin + 60);
    let first = 0;
    const begun = await until(async () => {
      first = await archived();
      return first > 0;
    });
    const ended = await until(async () => (await archived()) >= records);
    return (records - first) / ((ended - begun) / 1_000);
  } finally {
    await market.stop();
  }
}

/** Times a bare transfer, ms: sign, send, and wait for the notification. The blockhash is fetched before. */
export function createTransfer(connection: Connection, payer: Keypair, source: PublicKey, destination: PublicKey) {
  return async (nonce: number): Promise<number> => {
    const { blockhash } = await connection.getLatestBlockhash('finalized');
    const started = performance.now();
    const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash });
    transaction.add(createTransferInstruction(source, destination, payer.publicKey, 1 + nonce)).sign(payer);
    const signature = bs58.encode(transaction.signature!);
    const confirmed = new Promise<void>((resolve, reject) => {
      connection.onSignature(
        signature,
        (result) => (result.err ? reject(new Error('transfer failed')) : resolve()),
        'finalized',
      );
    });
    await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true, maxRetries: 0 });
    await confirmed;
    return performance.now() - started;
  };
}

/** Alternates sequential calls and transfers. */
async function measureTimes(options: RelayBenchOptions) {
  const { count, rounds, warmUp, slotTimeMs, report } = options;
  const { market, call, askTimings, failures } = await startStage(options);
  const { connection } = market.node;
  const payer = Keypair.generate();
  await market.node.fundSol(payer.publicKey, 100e9);
  const source = await market.mintTo(payer.publicKey, 1_000_000_000n);
  const destination = findTokenAccount(market.creator.publicKey, market.usdcMint);
  const transfer = createTransfer(connection, payer, source, destination);
  // Without a subscription, the WebSocket closes after each transfer and is opened again for the next.
  const keepOpen = connection.onSlotChange(() => undefined);
  /** A random pause, so that calls are not in step with the slots. */
  const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * slotTimeMs));
  try {
    report(`relay: ${warmUp} calls and transfers to warm up, ${count * rounds} of each to measure`);
    for (let i = 0; i < warmUp; i += 1) {
      await call();
      await transfer(i);
    }
    await askTimings();
    const [calls, transfers, pairs, own]: [number[], number[], number[], number[]] = [[], [], [], []];
    const stages: Record<string, number[]> = { open: [], creator: [], verify: [], settle: [] };
    let [nonce, rss] = [warmUp, 0];
    for (let i = 0; i < count * rounds; i += 1) {
      await pause();
      const ms = await call();
      const answer = await askTimings();
      calls.push(ms);
      own.push(ms - (answer.timings.chain ?? 0) - (answer.timings.creator ?? 0));
      for (const [stage, values] of Object.entries(stages)) values.push(answer.timings[stage] ?? 0);
      rss = Math.max(rss, answer.rss);
      await pause();
      nonce += 3;
      transfers.push(await transfer(nonce));
      await pause();
      pairs.push((await transfer(nonce + 1)) + (await transfer(nonce + 2)));
    }
    const times = {
      slot_ms: slotTimeMs,
      transfer_ms: percentiles(transfers),
      two_transfers_ms: percentiles(pairs),
      call_ms: percentiles(calls),
      stages_ms: Object.fromEntries(Object.entries(stages).map(([stage, values]) => [stage, median(values)])),
      relay_ms: percentiles(own),
    };
    return { times, rss, failures: failures() };
  } finally {
    await connection.removeSlotChangeListener(keepOpen);
    await market.stop();
  }
}

function describe(relay: RelayFigures): string {
  const stages = Object.entries(relay.stages_ms).map(([stage, ms]) => `${stage} ${round(ms)}`);
  return toTable(
    [`a paid call on the local node, slots of ${relay.slot_ms} ms`, ''],
    [
      ['bare confirmed SPL transfer, ms p50 / p99', spread(relay.transfer_ms)],
      ['two transfers, one after the other: the least that a paid call takes', spread(relay.two_transfers_ms)],
      ['synchronous paid call, ms p50 / p99', spread(relay.call_ms)],
      ['its stages, median ms', stages.join(', ')],
      ['of it, less chain and creator, ms p50 / p99', spread(relay.relay_ms)],
      ...Object.entries(relay.per_second).map(([callers, rate]) => [
        `calls per second, ${callers} at once`,
        round(rate),
      ]),
      ['records archived per second', round(relay.archived_per_second)],
      ['memory of relay and indexer together, MB', Math.round(relay.rss_mb)],
      ['calls that failed', relay.failures],
    ],
  );
}

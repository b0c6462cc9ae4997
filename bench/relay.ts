/**
 * What a paid call costs in time: a synchronous call of an instant creator beside one bare confirmed SPL transfer on the
 * same node, in turns, so that both see the same machine; then many callers at once, each number of them on nodes of its
 * own, so that none begins with another's history. Every figure is of `count` calls after a warm-up, as median and p99 of
 * `rounds` rounds.
 */
import { createTransferInstruction } from '@solana/spl-token';
import { Keypair, Transaction } from '@solana/web3.js';
import { findTokenAccount } from '../app/sdk/program/program.ts';
import { request, startMarketplace } from '../tests/harness/node/marketplace.ts';
import { median } from './program/table.ts';
import { many } from './relay/fakeChain.ts';
import { type Percentiles, percentiles } from './relay/percentiles.ts';

export interface RelayBenchOptions {
  count: number;
  rounds: number;
  warmUp: number;
  slotTimeMs: number;
  report: (line: string) => void;
}

export interface RelayFigures {
  slot_ms: number;
  transfer_ms: Percentiles;
  /** Two transfers, the second sent when the first is confirmed: what two dependent transactions cost at least. */
  two_transfers_ms: Percentiles;
  call_ms: Percentiles;
  /** Median of each call's part of the way; `relay` is everything that is neither chain nor creator. */
  parts_ms: Record<string, number>;
  relay_ms: Percentiles;
  per_second: Record<string, number>;
  rss_mb: number;
  failures: number;
}

interface Timings {
  timings: Record<string, number>;
  rss: number;
}

/** The median round of each quantile. */
function ofRounds(rounds: number[][]): Percentiles {
  const spreads = rounds.map(percentiles);
  return { p50: median(spreads.map((s) => s.p50)), p99: median(spreads.map((s) => s.p99)) };
}

/** A marketplace on a fresh node, and what is done with it here. */
async function startStage({ slotTimeMs, report }: RelayBenchOptions) {
  process.env.OBSERVE = '1';
  const market = await startMarketplace({ slotTimeMs, price: '0.01' });
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
    /** One paid call, ms. */
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

/** Calls per second of so many callers, each with its next call when the last has ended. */
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

/** Measures the relay of this working tree. */
export async function benchRelay(options: RelayBenchOptions): Promise<RelayFigures> {
  const perSecond: Record<string, number> = {};
  let [rss, failures] = [0, 0];
  for (const callers of [1, 16, 64]) {
    const rates: number[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const measured = await measureRate(options, callers);
      rates.push(measured.rate);
      rss = Math.max(rss, measured.rss);
      failures += measured.failures;
    }
    perSecond[callers] = median(rates);
    options.report(`${callers} at once: ${perSecond[callers]!.toFixed(1)} calls/s`);
  }
  const alone = await measureTimes(options);
  return {
    ...alone.figures,
    per_second: perSecond,
    rss_mb: Math.max(rss, alone.rss) / 1024 / 1024,
    failures: failures + alone.failures,
  };
}

async function measureTimes(options: RelayBenchOptions) {
  const { market, call, askTimings, failures } = await startStage(options);
  const { connection } = market.node;
  const payer = Keypair.generate();
  await market.node.fundSol(payer.publicKey, 100e9);
  const source = await market.mintTo(payer.publicKey, 1_000_000_000n);
  const destination = findTokenAccount(market.creator.publicKey, market.usdcMint);
  const keepOpen = connection.onSlotChange(() => undefined);

  /** Sign, send and wait for the notification, with a blockhash that is already there. */
  async function transfer(nonce: number): Promise<number> {
    const { blockhash } = await connection.getLatestBlockhash('confirmed');
    const started = performance.now();
    const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash });
    transaction.add(createTransferInstruction(source, destination, payer.publicKey, 1 + nonce)).sign(payer);
    const { default: bs58 } = await import('bs58');
    const signature = bs58.encode(transaction.signature!);
    const confirmed = new Promise<void>((resolve, reject) => {
      connection.onSignature(
        signature,
        (result) => (result.err ? reject(new Error('transfer failed')) : resolve()),
        'confirmed',
      );
    });
    await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true, maxRetries: 0 });
    await confirmed;
    return performance.now() - started;
  }

  /** Not to start in step with the slot clock. */
  const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * options.slotTimeMs));

  try {
    options.report(`warm-up: ${options.warmUp} calls and transfers`);
    for (let i = 0; i < options.warmUp; i += 1) {
      await call();
      await transfer(i);
    }
    await askTimings();
    const calls: number[][] = [];
    const transfers: number[][] = [];
    const pairs: number[][] = [];
    let nonce = options.warmUp;
    const own: number[][] = [];
    const parts: Record<string, number[]> = { open: [], creator: [], verify: [], settle: [] };
    let rss = 0;
    for (let round = 0; round < options.rounds; round += 1) {
      const [callMs, transferMs, pairMs, ownMs]: number[][] = [[], [], [], []];
      for (let i = 0; i < options.count; i += 1) {
        await pause();
        const ms = await call();
        const { timings, rss: now } = await askTimings();
        callMs!.push(ms);
        ownMs!.push(ms - (timings.chain ?? 0) - (timings.creator ?? 0));
        for (const [part, values] of Object.entries(parts)) values.push(timings[part] ?? 0);
        rss = Math.max(rss, now);
        await pause();
        nonce += 3;
        transferMs!.push(await transfer(nonce));
        await pause();
        pairMs!.push((await transfer(nonce + 1)) + (await transfer(nonce + 2)));
      }
      calls.push(callMs!);
      transfers.push(transferMs!);
      pairs.push(pairMs!);
      own.push(ownMs!);
      options.report(
        `round ${round + 1}: call ${median(callMs!).toFixed(0)} ms, transfer ${median(transferMs!).toFixed(0)} ms`,
      );
    }

    const figures = {
      slot_ms: options.slotTimeMs,
      transfer_ms: ofRounds(transfers),
      two_transfers_ms: ofRounds(pairs),
      call_ms: ofRounds(calls),
      parts_ms: Object.fromEntries(Object.entries(parts).map(([part, values]) => [part, median(values)])),
      relay_ms: ofRounds(own),
    };
    return { figures, rss, failures: failures() };
  } finally {
    await connection.removeSlotChangeListener(keepOpen);
    await market.stop();
  }
}

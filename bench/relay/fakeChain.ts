/**
 * The relay against a chain of known latency: what a call costs beside chain and creator, next to a bare proxy that does
 * the same hops in turns with it, and how many calls a second end when many are made at once, with a journal that groups
 * its commits and with one that does not.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { RELAY_SETTINGS, startChild } from '../processes.ts';
import type { ChainReady } from './chainProcess.ts';
import { startInstantCreator } from './creatorServer.ts';
import { type Percentiles, percentiles } from './percentiles.ts';
import type { PreparedCall } from './prepared.ts';
import type { RelayTimes } from './relayProcess.ts';

export interface OwnTime {
  calls: number;
  /** Whole calls at a chain without latency, ms. */
  relay_ms: Percentiles;
  proxy_ms: Percentiles;
  /** Of the relay's: all that is neither chain nor creator. */
  own_ms: Percentiles;
  /** CPU of the relay's process per call. */
  cpu_ms: number;
}

export interface Throughput {
  callers: number;
  latency_ms: number;
  calls: number;
  /** Calls per second with commits in groups, and with one durable commit for each move. */
  per_second: number;
  per_second_single: number;
  /** The same hops by the bare proxy: what this machine has time for. */
  per_second_proxy: number;
  call_ms: Percentiles;
  /** CPU of the relay's process per call. */
  cpu_ms: number;
}

type Journalling = 'group' | 'single';

/** Where a commit costs no disk, so that own time is the relay's alone; the usual folder where there is none. */
const memoryFolder = (): string => (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());

/** Chain, creator and relay for as long as `run` takes. */
async function withRelay<Result>(
  { latencyMs, journalling, folder }: { latencyMs: number; journalling: Journalling; folder: string },
  run: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const dataDir = mkdtempSync(join(folder, 'marketplace-bench-'));
  const creator = await startInstantCreator();
  const chain = await startChild<ChainReady>('relay/chainProcess.ts', [dataDir, creator.endpoint, String(latencyMs)]);
  const { rpcUrl, wsUrl, apiKey, agentId } = chain.ready;
  const relay = await startChild<{ url: string }>('relay/relayProcess.ts', [journalling], {
    ...RELAY_SETTINGS,
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl,
    DATA_DIR: dataDir,
    RELAY_KEYPAIR: join(dataDir, 'relay-authority.json'),
  });
  const pool = new Pool(relay.ready.url, { connections: 256 });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const path = `/v1/agents/${agentId}/execute`;
  const body = JSON.stringify({ task: 'bench', parameters: { language: 'en' } });
  try {
    return await run({
      rpcUrl,
      wsUrl,
      endpoint: creator.endpoint,
      prepare: (count) => chain.ask<PreparedCall[]>({ prepare: count }),
      times: () => relay.ask<RelayTimes>({}),
      async call() {
        const begun = performance.now();
        const answer = await pool.request({ path, method: 'POST', headers, body });
        const text = await answer.body.text();
        if (answer.statusCode !== 200) throw new Error(`the relay answered ${answer.statusCode}: ${text}`);
        return performance.now() - begun;
      },
    });
  } finally {
    await pool.destroy();
    await relay.stop();
    await chain.stop();
    creator.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface Stage {
  rpcUrl: string;
  wsUrl: string;
  endpoint: string;
  /** Transactions of so many calls, signed. */
  prepare(count: number): Promise<PreparedCall[]>;
  /** What the relay has spent since the last time. */
  times(): Promise<RelayTimes>;
  /** One paid call, ms. Throws unless it completes. */
  call(): Promise<number>;
}

/** The bare proxy before the stage's chain, with transactions of `count` calls; each call is made once. */
async function startProxy({ rpcUrl, wsUrl, endpoint, prepare }: Stage, count: number) {
  const prepared = await prepare(count);
  const proxy = await startChild<{ url: string }>('relay/proxyProcess.ts', [rpcUrl, wsUrl, endpoint]);
  const pool = new Pool(proxy.ready.url, { connections: 256 });
  const headers = { 'content-type': 'application/json' };
  return {
    async call(): Promise<number> {
      const body = JSON.stringify({ call: prepared.pop(), task: 'bench' });
      const begun = performance.now();
      const answer = await pool.request({ path: '/call', method: 'POST', headers, body });
      await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`the proxy answered ${answer.statusCode}`);
      return performance.now() - begun;
    },
    async stop(): Promise<void> {
      await pool.destroy();
      await proxy.stop();
    },
  };
}

/** One call after another, the proxy's in turns with the relay's. */
export function benchOwnTime(calls: number, warmUp: number): Promise<OwnTime> {
  return withRelay({ latencyMs: 0, journalling: 'group', folder: memoryFolder() }, async (stage) => {
    const proxy = await startProxy(stage, calls + warmUp);
    const whole: number[] = [];
    const bare: number[] = [];
    const own: number[] = [];
    let cpuMs = 0;
    for (let i = 0; i < warmUp; i += 1) {
      await stage.call();
      await proxy.call();
    }
    for (let i = 0; i < calls; i += 1) {
      await stage.times();
      const ms = await stage.call();
      const { stages, cpuMs: spent } = await stage.times();
      whole.push(ms);
      own.push(ms - (stages.chain ?? 0) - (stages.creator ?? 0));
      cpuMs += spent;
      bare.push(await proxy.call());
    }
    await proxy.stop();
    return {
      calls,
      relay_ms: percentiles(whole),
      proxy_ms: percentiles(bare),
      own_ms: percentiles(own),
      cpu_ms: cpuMs / calls,
    };
  });
}

/** As many callers at once as asked for, each with its next call when the last has ended. */
export async function benchThroughput(options: {
  callers: number;
  calls: number;
  latencyMs: number;
}): Promise<Throughput> {
  const { callers, calls, latencyMs } = options;
  const perSecond = async (call: () => Promise<number>, count: number) => {
    const begun = performance.now();
    const each = await many(call, callers, count);
    return { perSecond: count / ((performance.now() - begun) / 1_000), each };
  };
  async function measure(journalling: Journalling) {
    return withRelay({ latencyMs, journalling, folder: tmpdir() }, async (stage) => {
      const few = Math.ceil(calls / 4);
      await many(stage.call, callers, few);
      await stage.times();
      const measured = await perSecond(stage.call, calls);
      const cpuMs = (await stage.times()).cpuMs / calls;
      const proxy = await startProxy(stage, 2 * few);
      await many(proxy.call, callers, few);
      const bare = await perSecond(proxy.call, few);
      await proxy.stop();
      return { ...measured, cpuMs, proxy: bare.perSecond };
    });
  }
  const grouped = await measure('group');
  const single = await measure('single');
  return {
    callers,
    latency_ms: latencyMs,
    calls,
    per_second: grouped.perSecond,
    per_second_single: single.perSecond,
    per_second_proxy: grouped.proxy,
    call_ms: percentiles(grouped.each),
    cpu_ms: grouped.cpuMs,
  };
}

async function many(call: () => Promise<number>, callers: number, calls: number): Promise<number[]> {
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

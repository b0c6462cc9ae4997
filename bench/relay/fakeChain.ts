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
  /** What of it the relay answers in, from a request's head to the last byte of its answer, less chain and creator. */
  own_ms: Percentiles;
  /** CPU of the relay's process per call. */
  cpu_ms: number;
  /** The same with the chain in the relay's process, where no other process takes turns with it. */
  own_in_process_ms: Percentiles;
  cpu_in_process_ms: number;
}

export interface Throughput {
  callers: number;
  latency_ms: number;
  calls: number;
  /** Calls per second with commits in groups, at a node with the real program. */
  per_second: number;
  /** In groups, with the chain in the relay's own process: what the relay itself can do. */
  per_second_in_process: number;
  /** The same with one durable commit for each move. */
  per_second_single: number;
  cpu_in_process_ms: number;
  /** The same hops by the bare proxy: what this machine has time for. */
  per_second_proxy: number;
  call_ms: Percentiles;
  /** CPU of the relay's process per call. */
  cpu_ms: number;
}

/** The engine compiles what is used often, and still does after thousands of calls. */
const WARM_UP_CALLERS = 16;
/** The proxy has so much less code. */
const PROXY_WARM_UP = 10;

type Journalling = 'group' | 'single';

/** Where a commit costs no disk, so that own time is the relay's alone; the usual folder where there is none. */
const memoryFolder = (): string => (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());

interface Setting {
  /** The benches of the working tree that relay and chain are of; this one where none is named. */
  benches?: string;
  latencyMs: number;
  journalling: Journalling;
  folder: string;
  /** Whether the chain is a node with the real program, or in the relay's own process. */
  chainIn: 'node' | 'relay';
}

/** Chain, creator and relay for as long as `run` takes. */
export async function withRelay<Result>(
  { benches, latencyMs, journalling, folder, chainIn }: Setting,
  run: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const dataDir = mkdtempSync(join(folder, 'marketplace-bench-'));
  const creator = await startInstantCreator();
  const market = [dataDir, creator.endpoint, String(latencyMs)];
  const chain = await startChild<ChainReady>('relay/chainProcess.ts', market, {}, benches);
  const { rpcUrl, wsUrl, apiKey, agentId } = chain.ready;
  const inRelay = chainIn === 'relay' ? [String(latencyMs)] : [];
  const settings = {
    ...RELAY_SETTINGS,
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl,
    DATA_DIR: dataDir,
    RELAY_KEYPAIR: join(dataDir, 'relay-authority.json'),
  };
  const started = [journalling, ...inRelay];
  const relay = await startChild<{ url: string }>('relay/relayProcess.ts', started, settings, benches);
  const pool = new Pool(relay.ready.url, { connections: 256 });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const path = `/v1/agents/${agentId}/execute`;
  const body = JSON.stringify({ task: 'bench', parameters: { language: 'en' } });
  try {
    const stage: Stage = {
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
    };
    // Alone: a chain in the relay learns from it.
    await stage.call();
    return await run(stage);
  } finally {
    await pool.destroy();
    await relay.stop();
    await chain.stop();
    creator.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

export interface Stage {
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

/** One call after another, the proxy's in turns with the relay's; then the relay with the chain in its own process. */
export async function benchOwnTime(calls: number, warmUp: number): Promise<OwnTime> {
  async function measure(chainIn: Setting['chainIn'], withProxy: boolean) {
    const setting: Setting = { latencyMs: 0, journalling: 'group', folder: memoryFolder(), chainIn };
    return withRelay(setting, async (stage) => {
      const proxy = withProxy ? await startProxy(stage, calls + Math.ceil(warmUp / PROXY_WARM_UP)) : null;
      const [whole, bare]: [number[], number[]] = [[], []];
      await many(stage.call, WARM_UP_CALLERS, warmUp);
      for (let i = 0; i < warmUp / PROXY_WARM_UP; i += 1) await proxy?.call();
      await stage.times();
      for (let i = 0; i < calls; i += 1) {
        whole.push(await stage.call());
        if (proxy) bare.push(await proxy.call());
      }
      const { ownMs, cpuMs } = await stage.times();
      await proxy?.stop();
      return { whole, bare, own: ownMs, cpuMs: cpuMs / calls };
    });
  }
  const node = await measure('node', true);
  const relay = await measure('relay', false);
  return {
    calls,
    relay_ms: percentiles(node.whole),
    proxy_ms: percentiles(node.bare),
    own_ms: percentiles(node.own),
    cpu_ms: node.cpuMs,
    own_in_process_ms: percentiles(relay.own),
    cpu_in_process_ms: relay.cpuMs,
  };
}

/** As many callers at once as asked for, each with its next call when the last has ended. */
export async function benchThroughput(options: {
  callers: number;
  calls: number;
  latencyMs: number;
}): Promise<Throughput> {
  const { callers, calls, latencyMs } = options;
  const few = Math.ceil(calls / 4);
  async function perSecond(call: () => Promise<number>, count: number) {
    const begun = performance.now();
    const each = await many(call, callers, count);
    return { perSecond: count / ((performance.now() - begun) / 1_000), each };
  }
  async function measure(journalling: Journalling, chainIn: Setting['chainIn'], withProxy: boolean) {
    return withRelay({ latencyMs, journalling, chainIn, folder: tmpdir() }, async (stage) => {
      await many(stage.call, callers, few);
      await stage.times();
      const measured = await perSecond(stage.call, calls);
      const cpuMs = (await stage.times()).cpuMs / calls;
      return { ...measured, cpuMs, proxy: withProxy ? await measureProxy(stage) : 0 };
    });
  }
  async function measureProxy(stage: Stage): Promise<number> {
    const proxy = await startProxy(stage, 2 * few);
    await many(proxy.call, callers, few);
    const bare = await perSecond(proxy.call, few);
    await proxy.stop();
    return bare.perSecond;
  }
  const grouped = await measure('group', 'node', true);
  const inProcess = await measure('group', 'relay', false);
  const single = await measure('single', 'relay', false);
  return {
    callers,
    latency_ms: latencyMs,
    calls,
    per_second: grouped.perSecond,
    per_second_in_process: inProcess.perSecond,
    per_second_single: single.perSecond,
    per_second_proxy: grouped.proxy,
    call_ms: percentiles(inProcess.each),
    cpu_ms: grouped.cpuMs,
    cpu_in_process_ms: inProcess.cpuMs,
  };
}

/** So many calls by so many callers at once, each with its next when the last has ended: the milliseconds of each. */
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

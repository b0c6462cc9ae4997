/** Calls a second of one relay process and of two, on each database, all else being equal and nothing shared between them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { administer, type PostgresServer } from '../../app/local/postgres.ts';
import { moveToPostgres } from '../../app/relay/ledger/moveToPostgres.ts';
import { type Child, RELAY_SETTINGS, startChild } from '../processes.ts';
import { median } from '../program/table.ts';
import type { ChainReady } from '../relay/chainProcess.ts';
import { startInstantCreator } from '../relay/creatorServer.ts';
import { many } from '../relay/fakeChain.ts';
import { type Percentiles, percentiles } from '../relay/percentiles.ts';
import type { RelayTimes } from '../relay/relayProcess.ts';

export const LATENCY_MS = 50;
export const CALLERS = 64;
const AUTHORITIES = ['relay-authority.json', 'relay-authority-2.json'];

export interface Rate {
  database: 'SQLite' | 'PostgreSQL';
  relays: 1 | 2;
  per_second: number;
  call_ms: Percentiles;
  /** Of the relays' processes, a call. */
  cpu_ms: number;
  /** Calls that were answered 503 before anything was paid, and made again; of all rounds. */
  refused: number;
}

/** `rounds` of them in turns; the median of each. */
export async function benchRates(
  server: PostgresServer,
  { calls, rounds, report }: { calls: number; rounds: number; report: (line: string) => void },
): Promise<Rate[]> {
  const kinds = (['SQLite', 'PostgreSQL'] as const).flatMap((database) =>
    ([1, 2] as const).map((relays) => ({ database, relays, measured: [] as Omit<Rate, 'database' | 'relays'>[] })),
  );
  for (let round = 1; round <= rounds; round += 1) {
    for (const { database, relays, measured } of kinds) {
      const one = await measure(database === 'SQLite' ? null : server, relays, calls);
      report(`round ${round}: ${relays} on ${database}: ${one.per_second.toFixed(1)} calls/s`);
      measured.push(one);
    }
  }
  return kinds.map(({ database, relays, measured }) => ({
    database,
    relays,
    per_second: median(measured.map((one) => one.per_second)),
    call_ms: {
      p50: median(measured.map(({ call_ms }) => call_ms.p50)),
      p99: median(measured.map(({ call_ms }) => call_ms.p99)),
    },
    cpu_ms: median(measured.map((one) => one.cpu_ms)),
    refused: measured.reduce((sum, one) => sum + one.refused, 0),
  }));
}

let made = 0;

/** On a chain, a folder and a database that nobody has used. */
async function measure(server: PostgresServer | null, relays: 1 | 2, calls: number) {
  const dataDir = mkdtempSync(join(tmpdir(), 'marketplace-bench-'));
  const creator = await startInstantCreator();
  const chain = await startChild<ChainReady>('relay/chainProcess.ts', [dataDir, creator.endpoint, String(LATENCY_MS)]);
  const { rpcUrl, wsUrl, apiKey, agentId } = chain.ready;
  const ends: (() => Promise<void>)[] = [chain.stop];
  try {
    let databaseUrl = '';
    if (server) {
      made += 1;
      await administer(server, `CREATE DATABASE rate_${made}`);
      databaseUrl = server.url(`rate_${made}`);
      await moveToPostgres(dataDir, databaseUrl);
    }
    const running: { relay: Child<{ url: string }>; pool: Pool }[] = [];
    for (const authority of AUTHORITIES.slice(0, relays)) {
      const relay = await startChild<{ url: string }>('relay/relayProcess.ts', ['group'], {
        ...RELAY_SETTINGS,
        SOLANA_RPC_URL: rpcUrl,
        SOLANA_WS_URL: wsUrl,
        DATA_DIR: dataDir,
        DATABASE_URL: databaseUrl,
        RELAY_KEYPAIR: join(dataDir, authority),
      });
      const pool = new Pool(relay.ready.url, { connections: CALLERS });
      ends.push(relay.stop, () => pool.destroy());
      running.push({ relay, pool });
    }
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const path = `/v1/agents/${agentId}/execute`;
    const body = JSON.stringify({ task: 'bench', parameters: { language: 'en' } });
    let [turn, refused] = [0, 0];
    const call = async (): Promise<number> => {
      turn += 1;
      const begun = performance.now();
      const answer = await running[turn % relays]!.pool.request({ path, method: 'POST', headers, body });
      const text = await answer.body.text();
      if (answer.statusCode === 503) {
        refused += 1;
        return call();
      }
      if (answer.statusCode !== 200) throw new Error(`the relay answered ${answer.statusCode}: ${text}`);
      return performance.now() - begun;
    };
    const times = () => Promise.all(running.map(({ relay }) => relay.ask<RelayTimes>({})));
    await many(call, CALLERS, Math.ceil(calls / 4));
    await times();
    const begun = performance.now();
    const each = await many(call, CALLERS, calls);
    const per_second = calls / ((performance.now() - begun) / 1_000);
    const cpu = (await times()).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
    return { per_second, call_ms: percentiles(each), cpu_ms: cpu / calls, refused };
  } finally {
    for (const end of ends.reverse()) await end();
    creator.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * `npm run bench -- --only starts`: how long relay and indexer take to serve again, started at once as `npm run relay` and
 * `npm run indexer` are, over tables of so many executions beside a node's real history.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../app/database/open.ts';
import { indexPath } from '../app/relay/config.ts';
import type { IndexDatabase } from '../indexer/tables.ts';
import { type Answer, request, startMarketplace, type TestMarketplace } from '../tests/harness/node/marketplace.ts';
import { fill } from './lists/fill.ts';
import { RELAY_SETTINGS } from './processes.ts';
import { toTable } from './program/table.ts';

const ROOT = join(import.meta.dirname, '..');
/** How often what is not ready yet is asked again. */
const ASK_MS = 10;
/** Longer than any start may take. */
const PATIENCE_MS = 60_000;
export const START_GOAL_MS = 5_000;

/** Milliseconds from when both processes were started. */
export interface StartFigures {
  executions: number;
  agents: number;
  /** Until the indexer has looked at the chain. */
  indexer_ms: number;
  /** Until `/ready` says so, of relay and indexer. */
  ready_ms: number;
  /** Until the first page of `GET /v1/agents` was answered. */
  list_ms: number;
  /** Until the first paid call was accepted. */
  call_ms: number;
}

export async function benchStarts(
  sizes: readonly number[],
  rounds: number,
  report: (line: string) => void,
): Promise<StartFigures[]> {
  const figures: StartFigures[] = [];
  for (const executions of sizes) {
    const size = { executions, agents: Math.max(executions / 10, 100) };
    const market = await startMarketplace();
    try {
      await market.relay.kill();
      report(`filling ${executions} executions`);
      await fill(market.dataDir, size, { isAtRest: true });
      const starts: Omit<StartFigures, 'executions' | 'agents'>[] = [];
      for (let round = 0; round < rounds; round += 1) {
        report(`starting over ${executions} executions`);
        starts.push(await measureStart(market, executions));
      }
      // The slowest of them: nobody minds how fast the others were.
      const worst = (name: keyof (typeof starts)[number]) => Math.max(...starts.map((start) => start[name]));
      figures.push({
        ...size,
        indexer_ms: worst('indexer_ms'),
        ready_ms: worst('ready_ms'),
        list_ms: worst('list_ms'),
        call_ms: worst('call_ms'),
      });
    } finally {
      await market.stop();
    }
  }
  return figures;
}

async function measureStart(market: TestMarketplace, executions: number) {
  const { sqlite, close } = openDatabase<IndexDatabase>(indexPath(market.dataDir));
  // As after a night: only what this indexer finds counts.
  sqlite.exec('UPDATE progress SET checked_at = 0');
  const looked = sqlite.prepare('SELECT 1 FROM progress WHERE checked_at > 0');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const begun = performance.now();
  const processes = [startScript('indexer', market, {}), startScript('relay', market, { PORT: String(port) })];
  const until = async (what: string, isDone: () => Promise<boolean>): Promise<number> => {
    while (!(await isDone())) {
      const ended = processes.find(({ exitCode }) => exitCode !== null);
      if (ended) throw new Error(`${ended.spawnargs.at(-1)} ended with ${ended.exitCode}`);
      if (performance.now() - begun > PATIENCE_MS) throw new Error(`${what} took too long; last came ${answer?.text}`);
      await sleep(ASK_MS);
    }
    return performance.now() - begun;
  };
  const apiKey = market.callers[0]?.apiKey ?? '';
  const body = { task: 'bench', async: true };
  let answer: Answer | null = null;
  /** Whether it is answered well, by somebody who goes on asking. */
  const answers = async (path: string, options = {}) => {
    answer = await request(url, path, options).catch(() => null);
    return answer?.status === 200;
  };
  try {
    const [indexer_ms, ready_ms, list_ms, call_ms] = await Promise.all([
      until('the first look', async () => looked.get() !== undefined),
      until('/ready', () => answers('/ready')),
      until('the first list', () => answers('/v1/agents')),
      until('the first call', () => answers(`/v1/agents/${market.agentId}/execute`, { apiKey, body })),
    ]);
    const { kept } = sqlite.prepare('SELECT count(*) AS kept FROM executions').get() as { kept: bigint };
    if (kept < BigInt(executions)) throw new Error(`of ${executions} executions the indexer has left ${kept}`);
    return { indexer_ms, ready_ms, list_ms, call_ms };
  } finally {
    close();
    for (const child of processes) child.kill('SIGKILL');
    await Promise.all(processes.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
  }
}

/** What `npm run` would start, without npm's own half second. */
function startScript(name: 'relay' | 'indexer', market: TestMarketplace, changes: NodeJS.ProcessEnv): ChildProcess {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const [, ...args] = (scripts[name] ?? '').split(' ');
  return spawn(process.execPath, args, {
    cwd: ROOT,
    env: {
      ...process.env,
      ...RELAY_SETTINGS,
      SOLANA_RPC_URL: market.node.rpcUrl,
      SOLANA_WS_URL: market.node.wsUrl,
      RELAY_KEYPAIR: join(market.dataDir, 'relay-authority.json'),
      ...market.database,
      ...changes,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export function describeStarts(figures: readonly StartFigures[]): string {
  return toTable(
    ['executions in the tables', 'agents', 'index followed, ms', '/ready', 'goal', 'first list', 'first call accepted'],
    figures.map(({ executions, agents, indexer_ms, ready_ms, list_ms, call_ms }) => [
      executions,
      agents,
      Math.round(indexer_ms),
      Math.round(ready_ms),
      START_GOAL_MS,
      Math.round(list_ms),
      Math.round(call_ms),
    ]),
  );
}

/**
 * Measures a relay over a thousand to a million executions: startup time, memory, and for each list, search and filter
 * the latency and the longest block of the event loop. One wallet has half of the executions.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { moveToPostgres } from '../app/relay/ledger/moveToPostgres.ts';
import { EPOCH } from '../tests/harness/edge/rows.ts';
import { startMarketplace, type TestMarketplace } from '../tests/harness/node/marketplace.ts';
import { administer, startPostgres } from '../tests/harness/postgres.ts';
import { atMost, type Goal, type Percentiles, percentiles, round, spread, toTable } from './figures.ts';
import { addressOf, fill, type Size } from './lists/fill.ts';
import type { RelayFigures } from './lists/relayProcess.ts';
import type { Part, Settings } from './part.ts';
import { type Child, startChild } from './processes.ts';

const ROOT = join(import.meta.dirname, '..');
/** Numbers of executions. A tenth as many agents. */
const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const QUICK_SIZES = SIZES.slice(0, 3);
/** Interval between polls of something that is not ready yet. */
const ASK_MS = 10;

/** p99 of every list, search and filter at a million executions, and the longest block of the event loop. */
const LIST_GOAL_MS = 50;
const HOLD_GOAL_MS = 20;
const READY_GOAL_MS = 5_000;
const MEMORY_GOAL_MB = 300;

/** One kind of request. `number` makes each request different, so no answer comes from a cache. */
interface Line {
  name: string;
  path(number: number, size: Size): string;
}

const agents = (name: string, query: string): Line => {
  return {
    name: `agents, ${name}`,
    path: (number) =>
      `/v1/agents?offset=${number % 20}&limit=20&min_executions=0&min_success_rate=0.${String(number).padStart(6, '0')}${query}`,
  };
};
const wallet = (name: string, query: (number: number, size: Size) => string): Line => {
  return { name: `wallet, ${name}`, path: (number, size) => `/v1/executions?${query(number, size)}` };
};
const timeOf = (seconds: number) => new Date(seconds * 1_000).toISOString();

const LINES: Line[] = [
  ...['total_executions', 'success_rate', 'price_asc', 'price_desc', 'created_at', 'best'].map((sort) =>
    agents(`by ${sort}`, `&sort=${sort}`),
  ),
  agents('a standard tag', '&tags=data'),
  agents('a custom tag', '&tags=kind-7'),
  agents('verified', '&verified_only=true'),
  agents('a word of all of them', '&q=agent'),
  agents('a word of few', '&q=audit+code'),
  agents('words of none', '&q=audit+tax'),
  {
    name: 'agents, page 1',
    path: (number) => `/v1/agents?limit=${1 + (number % 20)}&offset=${number % 300}`,
  },
  {
    name: 'agents, from the middle on',
    path: (number, { agents: all }) =>
      `/v1/agents?limit=${1 + (number % 20)}&offset=${Math.floor(all / 2) + (number % 300)}`,
  },
  {
    name: 'agent by id',
    path: (number, { agents: all }) => `/v1/agents/${addressOf('listing', (number * 20) % all)}`,
  },
  wallet('no filter', (number) => `limit=${20 + (number % 10)}`),
  ...['pending', 'running', 'completed', 'failed', 'disputed'].map((status) =>
    wallet(status, (number) => `status=${status}&limit=${20 + (number % 10)}`),
  ),
  wallet('one agent', (number) => `agent_id=${addressOf('listing', number % 10)}`),
  wallet('one agent, failed', (number) => `agent_id=${addressOf('listing', number % 10)}&status=failed`),
  wallet(
    'some days',
    (number) => `from=${timeOf(EPOCH + 86_400 * 3 + number)}&to=${timeOf(EPOCH + 86_400 * 20 + number)}`,
  ),
  wallet('from the middle on', (number, { executions }) => `offset=${Math.floor(executions / 4) + number}`),
];

interface ListFigures {
  executions: number;
  agents: number;
  /** From the start of relay and indexer until `/ready` reports both as ready. */
  ready_ms: number;
  /** From the same start to the first answered list of agents, and the longest block of the event loop until then. */
  first_list_ms: number;
  first_list_held_ms: number;
  /** Memory of the relay after all these requests. */
  rss_mb: number;
  /** Measured in the relay, from the request's headers to the end of the answer. */
  lines: { name: string; ms: Percentiles; held_ms: number }[];
}

export const listsPart: Part = {
  about: 'lists, searches and filters up to a million executions; start and memory of the relay',
  async run({ quick, executions, postgres, report }) {
    const figures: ListFigures[] = [];
    for (const count of executions === undefined ? (quick ? QUICK_SIZES : SIZES) : [executions]) {
      const size = { executions: count, agents: Math.max(Math.floor(count / 10), 100) };
      figures.push({ ...size, ...(await measure(size, quick ? 100 : 500, { postgres, report })) });
    }
    return { figures, table: describe(figures), goals: goalsOf(figures.at(-1)!) };
  },
};

const DATABASE = 'lists';

async function measure(size: Size, requests: number, { postgres, report }: Pick<Settings, 'postgres' | 'report'>) {
  const market = await startMarketplace();
  const server = postgres ? await startPostgres() : null;
  try {
    await market.relay.kill();
    const { wallet, apiKey } = market.callers[0]!;
    report(`lists: filling ${size.executions} executions`);
    // As after a long stop: only progress of the measured indexer counts.
    await market.query('index', 'UPDATE progress SET checked_at = 0');
    await fill(market.dataDir, size, { isAtRest: true, wallet: wallet.publicKey.toBase58() });
    const place: NodeJS.ProcessEnv = { DATA_DIR: market.dataDir };
    if (server) {
      report('lists: copying all rows to PostgreSQL');
      await administer(server, `CREATE DATABASE ${DATABASE}`);
      place.DATABASE_URL = server.url(DATABASE);
      await moveToPostgres(market.dataDir, place.DATABASE_URL);
      await administer({ url: () => server.url(DATABASE) }, 'VACUUM (ANALYZE)');
    }
    report(`lists: asking for lists of ${size.executions} executions`);
    return await withServices(market, place, async ({ url, relay, ...start }) => {
      const ask = (path: string) => get(url + path, apiKey);
      const lines: ListFigures['lines'] = [];
      let rss_mb = 0;
      for (const { name, path } of LINES) {
        for (let number = 0; number < requests / 10; number += 1) await ask(path(900_000 + number, size));
        await relay.ask({});
        for (let number = 0; number < requests; number += 1) await ask(path(number, size));
        const { times, held_ms, ...now } = await relay.ask<RelayFigures>({});
        lines.push({ name, ms: percentiles(times), held_ms });
        rss_mb = now.rss_mb;
      }
      return { ...start, rss_mb, lines };
    });
  } finally {
    await market.stop();
    await server?.remove();
  }
}

interface Services {
  url: string;
  relay: Child<{ url: string }>;
  ready_ms: number;
  first_list_ms: number;
  first_list_held_ms: number;
}

/** Starts relay and indexer together over the marketplace's tables, and calls `run` when both are ready. */
async function withServices<Result>(
  market: TestMarketplace,
  place: NodeJS.ProcessEnv,
  run: (services: Services) => Promise<Result>,
) {
  const environment = {
    ...place,
    PORT: '0',
    SOLANA_RPC_URL: market.node.rpcUrl,
    SOLANA_WS_URL: market.node.wsUrl,
    RELAY_KEYPAIR: join(market.dataDir, 'relay-authority.json'),
    LOG_LEVEL: 'error',
    // The bench sends many requests without a key from one address.
    PUBLIC_RATE_PER_SECOND: '0',
    MIN_RUNWAY_HOURS: '0',
    MIN_FREE_BYTES: '0',
    SPONSOR: 'all',
  };
  const started = performance.now();
  const indexer = spawn(process.execPath, ['scripts/run.mjs', 'indexer/main.ts'], {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let relay: Child<{ url: string }> | undefined;
  try {
    // The heap limit of `npm run relay`.
    const relayEnvironment = { ...environment, NODE_OPTIONS: '--max-old-space-size=1024' };
    relay = await startChild<{ url: string }>('lists/relayProcess.ts', [], relayEnvironment);
    const { url } = relay.ready;
    const answered = async (path: string) => {
      while (!(await fetch(url + path)).ok) {
        if (indexer.exitCode !== null) throw new Error(`the indexer ended with ${indexer.exitCode}`);
        await sleep(ASK_MS);
      }
      return performance.now() - started;
    };
    const [ready_ms, first_list_ms] = await Promise.all([answered('/ready'), answered('/v1/agents')]);
    const { held_ms } = await relay.ask<RelayFigures>({});
    return await run({ url, relay, ready_ms, first_list_ms, first_list_held_ms: held_ms });
  } finally {
    await relay?.kill();
    if (indexer.kill('SIGKILL')) await once(indexer, 'exit');
  }
}

async function get(url: string, apiKey: string): Promise<void> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} was answered ${answer.status}: ${text}`);
}

function goalsOf({ executions, agents, ready_ms, rss_mb, lines }: ListFigures): Goal[] {
  const at = `at ${executions.toLocaleString('en')} executions and ${agents.toLocaleString('en')} agents`;
  return [
    atMost(`slowest list, search or filter ${at}, p99 ms`, LIST_GOAL_MS, Math.max(...lines.map(({ ms }) => ms.p99))),
    atMost('longest hold of the event loop by any of them, ms', HOLD_GOAL_MS, Math.max(...lines.map((l) => l.held_ms))),
    atMost('relay and indexer are ready, ms', READY_GOAL_MS, ready_ms),
    atMost('memory of the relay, MB', MEMORY_GOAL_MB, rss_mb),
  ];
}

function describe(all: ListFigures[]): string {
  const largest = all.at(-1)!;
  const whole = (pick: (figures: ListFigures) => number) => all.map((figures) => Math.round(pick(figures)));
  return toTable(
    [
      'in the relay, ms, p50 / p99',
      ...all.map(({ executions }) => `${executions.toLocaleString('en')} executions`),
      'longest hold, at the most',
    ],
    [
      ...largest.lines.map(({ name, held_ms }, at) => [
        name,
        ...all.map(({ lines }) => spread(lines[at]!.ms)),
        round(held_ms),
      ]),
      ['relay and indexer ready, ms', ...whole(({ ready_ms }) => ready_ms), ''],
      [
        'first list of agents answered, ms',
        ...whole(({ first_list_ms }) => first_list_ms),
        round(largest.first_list_held_ms),
      ],
      ['memory of the relay, MB', ...whole(({ rss_mb }) => rss_mb), ''],
    ],
  );
}

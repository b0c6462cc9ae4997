/**
 * `npm run bench -- --only lists`: what each list of the API costs from a thousand executions to a million, with a tenth as
 * many agents and half of all executions in one wallet's list. No two requests of a line are the same, so that none is
 * answered from what was kept.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeMetadata } from '../app/sdk/wire/metadata.ts';
import { EPOCH, metadataOf } from '../tests/harness/edge/rows.ts';
import { addressOf, fill, type Size } from './lists/fill.ts';
import { startChild } from './processes.ts';
import { toTable } from './program/table.ts';
import { type Percentiles, percentiles } from './relay/percentiles.ts';

/** A question of the API; `number` makes each of a line another one. */
interface Line {
  name: string;
  /** The 99th percentile is to be below, milliseconds. */
  goal: number;
  path(number: number, size: Size): string;
  body?(number: number): Uint8Array;
}

const agents = (name: string, query: string): Line => {
  return {
    name: `agents, ${name}`,
    goal: 3,
    path: (number) =>
      `/v1/agents?offset=${number % 20}&limit=20&min_executions=0&min_success_rate=0.${String(number).padStart(6, '0')}${query}`,
  };
};
const wallet = (name: string, query: (number: number, size: Size) => string): Line => {
  return { name: `wallet, ${name}`, goal: 5, path: (number, size) => `/v1/executions?${query(number, size)}` };
};
const timeOf = (seconds: number) => new Date(seconds * 1_000).toISOString();

export const LINES: Line[] = [
  ...['total_executions', 'success_rate', 'price_asc', 'price_desc', 'created_at'].map((sort) =>
    agents(`by ${sort}`, `&sort=${sort}`),
  ),
  agents('a standard tag', '&tags=data'),
  agents('a custom tag', '&tags=kind-7'),
  agents('verified', '&verified_only=true'),
  agents('a word of all of them', '&q=agent'),
  agents('a word of few', '&q=audit+code'),
  agents('words of none', '&q=audit+tax'),
  {
    name: 'agents, page 1 without a filter',
    goal: 3,
    path: (number) => `/v1/agents?limit=${1 + (number % 20)}&offset=${number % 300}`,
  },
  {
    name: 'agents, the same from the middle on',
    goal: 3,
    path: (number, { agents: all }) =>
      `/v1/agents?limit=${1 + (number % 20)}&offset=${Math.floor(all / 2) + (number % 300)}`,
  },
  { name: 'agents, the same page again', goal: 3, path: () => '/v1/agents' },
  {
    name: 'agent by id',
    goal: 1,
    path: (number, { agents: all }) => `/v1/agents/${addressOf('listing', (number * 20) % all)}`,
  },
  { name: 'agent by id, the most called', goal: 1, path: () => `/v1/agents/${addressOf('listing', 0)}` },
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
  {
    name: 'POST /v1/metadata',
    goal: 5,
    path: () => '/v1/metadata',
    body: (number) => encodeMetadata(metadataOf({ name: `posted-${number}`, endpoint: 'https://example.com/execute' })),
  },
];

/** Milliseconds. */
interface LineFigures {
  name: string;
  goal: number;
  /** Of a request as its client sees it, over HTTP. */
  client: Percentiles;
  /** From a request's head to the end of its answer, in the relay: what the goal is for. */
  own: Percentiles;
  /** The longest that the event loop was held. */
  held_ms: number;
  /** Computing time of one request, HTTP included. */
  cpu_ms: number;
}

export interface ListFigures {
  executions: number;
  agents: number;
  start_ms: number;
  start_held_ms: number;
  rss_mb: number;
  lines: LineFigures[];
}

/** `wanted`: only kinds of requests whose name has this in it. */
export async function benchLists(
  sizes: readonly number[],
  requests: number,
  wanted: string,
  report: (line: string) => void,
): Promise<ListFigures[]> {
  const figures: ListFigures[] = [];
  for (const executions of sizes) {
    const size = { executions, agents: Math.max(Math.floor(executions / 10), 100) };
    const folder = mkdtempSync(join(tmpdir(), 'bench-lists-'));
    try {
      report(`filling ${executions} executions`);
      await fill(folder, size);
      report(`asking for lists of ${executions} executions`);
      figures.push({ ...size, ...(await measure(folder, size, requests, wanted)) });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return figures;
}

interface Ready {
  url: string;
  apiKey: string;
  start_ms: number;
  start_held_ms: number;
  rss_mb: number;
}

async function measure(folder: string, size: Size, requests: number, wanted: string) {
  const child = await startChild<Ready>('lists/apiProcess.ts', [folder]);
  const { url, apiKey, ...start } = child.ready;
  const connections = new Agent({ keepAlive: true });
  try {
    const lines: ListFigures['lines'] = [];
    for (const line of LINES.filter(({ name }) => name.includes(wanted))) {
      const times: number[] = [];
      const ask = (number: number) => time(connections, url + line.path(number, size), apiKey, line.body?.(number));
      for (let number = 0; number < requests / 10; number += 1) await ask(900_000 + number);
      await child.ask({});
      for (let number = 0; number < requests; number += 1) times.push(await ask(number));
      const { own, held_ms, cpu_ms } = await child.ask<{ own: Percentiles; held_ms: number; cpu_ms: number }>({});
      const { name, goal } = line;
      lines.push({ name, goal, client: percentiles(times), own, held_ms, cpu_ms: cpu_ms / requests });
    }
    return { ...start, lines };
  } finally {
    connections.destroy();
    await child.stop();
  }
}

/** Milliseconds from the request to the end of its answer. Throws where it is no success. */
function time(agent: Agent, url: string, key: string, body?: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const headers = body
      ? { 'content-type': 'application/json', 'content-length': body.length }
      : { authorization: `Bearer ${key}` };
    const asked = request(url, { agent, method: body ? 'POST' : 'GET', headers }, (answer) => {
      answer.resume();
      answer.on('end', () => {
        if (answer.statusCode && answer.statusCode < 300) resolve(performance.now() - begun);
        else reject(new Error(`${url} was answered ${answer.statusCode}`));
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** Per line: p50 / p99 of each size in the relay; at the largest, those of the client, the longest hold and computing time. */
export function describeLists(all: ListFigures[]): string {
  const round = (value: number) => Number(value.toFixed(2));
  const largest = all.at(-1);
  if (!largest) return '';
  const spread = (value: Percentiles | undefined) => `${round(value?.p50 ?? 0)} / ${round(value?.p99 ?? 0)}`;
  return toTable(
    [
      'ms p50 / p99 in the relay',
      ...all.map(({ executions }) => String(executions)),
      'goal p99',
      'over HTTP',
      'held',
      'CPU',
    ],
    [
      ...largest.lines.map(({ name, goal, client, held_ms, cpu_ms }, at) => [
        name,
        ...all.map(({ lines }) => spread(lines[at]?.own)),
        goal,
        spread(client),
        round(held_ms),
        round(cpu_ms),
      ]),
      [
        'from the start to the first list',
        ...all.map(({ start_ms }) => round(start_ms)),
        5_000,
        '',
        round(largest.start_held_ms),
        '',
      ],
      ['memory, MB', ...all.map(({ rss_mb }) => round(rss_mb)), '', '', '', ''],
    ],
  );
}

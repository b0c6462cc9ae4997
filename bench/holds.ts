/** How long any one request of a stranger holds the event loop of a real relay: each kind by itself, the worst it can be. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { hashResult, signResult } from '../app/sdk/receipt/receipt.ts';
import { namedKeypair } from '../tests/harness/vm/keys.ts';
import { RELAY_SETTINGS, startChild } from './processes.ts';
import type { ChainReady } from './relay/chainProcess.ts';
import { HEAVY_SCHEMAS, HEAVY_VALUES, heavyBodies, SLOW_SCHEMA } from './relay/heavyRequests.ts';
import type { RelayTimes } from './relay/relayProcess.ts';

/** What a caller pays for a result of 5 MiB, base units. */
const ANSWER_BYTES = 4.9 * 1024 * 1024;
/** After an answer, for what is still done about it. */
const SETTLING_MS = 30;

export interface HoldFigure {
  kind: string;
  status: number;
  /** Longest of the rounds, by the clock and on the processor. */
  ms: number;
  cpu_ms: number;
}

interface Kind {
  kind: string;
  path: string;
  body?: string;
  headers?: Record<string, string>;
  /** With the caller's API key. */
  paid?: boolean;
  /** How many of it, one after the other, and how many of those beside each other; one unless it says otherwise. */
  times?: number;
  atOnce?: number;
}

/** Results by what is hard about them; the creator answers the task of this name with it. */
const RESULTS: Record<string, string> = {
  'plain text': 'x'.repeat(ANSWER_BYTES),
  'three-byte characters': '東'.repeat(ANSWER_BYTES / 3),
  'quotes and line breaks': '"\n'.repeat(ANSWER_BYTES / 4),
  'control characters': '\u0001'.repeat(ANSWER_BYTES / 6),
};
const STEPS: Record<string, string> = Object.fromEntries(
  Object.entries(HEAVY_VALUES).map(([name, make]) => [`steps of ${name}`, make(ANSWER_BYTES)]),
);

async function startHeavyCreator() {
  const { secretKey } = namedKeypair('signing key');
  const made = new Map<string, string>();
  function answerTo(task: string): string {
    const result = RESULTS[task] ?? 'done';
    const result_hash = hashResult(result);
    const signature = signResult(secretKey, result_hash);
    const steps = STEPS[task];
    const rest = JSON.stringify({ status: 'completed', result, result_hash, signature }).slice(1, -1);
    return steps ? `${rest},"steps":${steps}}` : `${rest}}`;
  }
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { execution_id, task } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    if (!made.has(task)) made.set(task, answerTo(task));
    response.end(`{"execution_id":"${execution_id}",${made.get(task)}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}/execute`, stop: () => server.close().closeAllConnections() };
}

/** `answered`: an execution whose result is as long as one may be. */
function kindsOf(agentId: string, answered: { id: string; path: string }): Kind[] {
  const execute = `/v1/agents/${agentId}/execute`;
  const start = '/v1/executions/00000000-0000-8000-8000-000000000000/start';
  const document = (input_schema: object) =>
    JSON.stringify({
      name: 'heavy',
      tagline: 'x',
      description: 'x'.repeat(8_000),
      display_name: 'x',
      custom_tags: [],
      input_schema,
      output_schema: {},
      endpoint: 'https://example.com/execute',
    });
  const bodies = heavyBodies();
  return [
    ...bodies.map(([name, body]) => ({ kind: `execute: ${name}`, path: execute, body, paid: true })),
    ...bodies.slice(0, 5).map(([name, body]) => ({
      kind: `execute, to be repeated: ${name}`,
      path: execute,
      body,
      paid: true,
      headers: { 'idempotency-key': `bench-${name.replaceAll(' ', '-')}` },
    })),
    ...bodies.map(([name, body]) => ({ kind: `start without a key: ${name}`, path: start, body })),
    {
      kind: 'execute: a text against 60 patterns',
      path: execute,
      body: JSON.stringify({ task: 'bench', parameters: { text: 'a'.repeat(15_000) } }),
      paid: true,
    },
    {
      kind: 'execute: a long text against 60 patterns',
      path: execute,
      body: JSON.stringify({ task: 'bench', parameters: { text: 'ab'.repeat(400_000) } }),
      paid: true,
    },
    ...Object.entries(HEAVY_SCHEMAS).map(([name, make]) => ({
      kind: `metadata: ${name}`,
      path: '/v1/metadata',
      body: document(make()),
    })),
    ...Object.entries(HEAVY_VALUES).map(([name, make]) => ({
      kind: `metadata: ${name}`,
      path: '/v1/metadata',
      body: document({ type: 'object', default: JSON.parse(make(28_000)) }),
    })),
    ...Object.entries(HEAVY_VALUES).map(([name, make]) => ({
      kind: `tRPC without a session: ${name}`,
      path: '/trpc/auth.challenge',
      body: `{"wallet":${make(32_000)}}`,
    })),
    { kind: 'tRPC: 1 MiB', path: '/trpc/auth.challenge', body: bodies[0]![1] },
    { kind: 'a query of 15 KiB', path: `/v1/agents?${'a=1&'.repeat(15)}${'b1=&'.repeat(3_500)}` },
    { kind: 'a gzipped body', path: execute, body: bodies[0]![1], paid: true, headers: { 'content-encoding': 'gzip' } },
    ...[...Object.keys(RESULTS), ...Object.keys(STEPS)].map((task) => ({
      kind: `answer of 5 MiB: ${task}`,
      path: execute,
      body: JSON.stringify({ task }),
      paid: true,
    })),
    ...[
      { kind: 'answer of 5 MiB, to be repeated, and repeated', headers: { 'idempotency-key': 'bench-long-answer' } },
      { kind: 'answers of 5 MiB, 40 one after the other', times: 40 },
      { kind: 'answers of 5 MiB, 40, 6 at once', times: 40, atOnce: 6 },
    ].map((kind) => ({ ...kind, path: execute, body: JSON.stringify({ task: 'plain text' }), paid: true })),
    { kind: 'a result of 5 MiB', path: answered.path },
    { kind: 'results of 5 MiB, 40, 6 at once', path: answered.path, times: 40, atOnce: 6 },
    { kind: 'an execution with 5 MiB', path: `/v1/executions/${answered.id}`, paid: true },
  ];
}

/** `wanted`: only kinds whose name has this in it. */
export async function benchHolds(
  rounds: number,
  wanted: string,
  report: (line: string) => void,
): Promise<HoldFigure[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'marketplace-bench-'));
  const creator = await startHeavyCreator();
  const schemaFile = join(dataDir, 'schema.json');
  writeFileSync(schemaFile, JSON.stringify(SLOW_SCHEMA));
  const chain = await startChild<ChainReady>('relay/chainProcess.ts', [dataDir, creator.endpoint, '0', schemaFile]);
  const { rpcUrl, wsUrl, apiKey, agentId } = chain.ready;
  const relay = await startChild<{ url: string }>('relay/relayProcess.ts', ['group'], {
    ...RELAY_SETTINGS,
    WATCH_HOLDS: '1',
    // So that the cheapest agent may answer with the most.
    RESULT_BYTES_PER_CENT: String(5 * 1024 * 1024),
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl,
    DATA_DIR: dataDir,
    RELAY_KEYPAIR: join(dataDir, 'relay-authority.json'),
  });
  const ask = ({ path, body, headers, paid }: Kind) =>
    request(relay.ready.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        ...(paid && { authorization: `Bearer ${apiKey}` }),
        ...headers,
      },
      body: body ?? null,
      headersTimeout: 120_000,
    });
  async function send(kind: Kind): Promise<number> {
    const answer = await ask(kind);
    await answer.body.dump({ limit: 64 * 1024 * 1024 });
    return answer.statusCode;
  }
  async function sendAll(kind: Kind): Promise<number> {
    const { times = 1, atOnce = 1 } = kind;
    const statuses: number[] = [];
    const sendSome = async () => {
      for (let left = times / atOnce; left > 0; left -= 1) statuses.push(await send(kind));
    };
    await Promise.all(Array.from({ length: atOnce }, sendSome));
    return Math.max(...statuses);
  }
  try {
    // Code that has never run is compiled first, once in a relay's life.
    for (let i = 0; i < 20; i += 1) {
      const path = `/v1/agents/${agentId}/execute`;
      await send({ kind: '', path, body: JSON.stringify({ task: 'warm up' }), paid: true });
    }
    const long = {
      kind: '',
      path: `/v1/agents/${agentId}/execute`,
      body: JSON.stringify({ task: 'plain text' }),
      paid: true,
    };
    const first = (await (await ask(long)).body.json()) as { execution_id: string; ipfs_url: string };
    const answered = { id: first.execution_id, path: new URL(first.ipfs_url).pathname };
    const figures: HoldFigure[] = [];
    for (const kind of kindsOf(agentId, answered).filter(({ kind: name }) => name.includes(wanted))) {
      const figure = { kind: kind.kind, status: 0, ms: 0, cpu_ms: 0 };
      for (let round = 0; round < rounds; round += 1) {
        await sleep(SETTLING_MS);
        await relay.ask<RelayTimes>({});
        figure.status = await sendAll(kind);
        await sleep(SETTLING_MS);
        const { hold } = await relay.ask<RelayTimes>({});
        figure.ms = Math.max(figure.ms, hold.ms);
        figure.cpu_ms = Math.max(figure.cpu_ms, hold.cpuMs);
      }
      report(`${figure.kind}: ${figure.status}, ${figure.ms.toFixed(1)} ms`);
      figures.push(figure);
    }
    return figures;
  } finally {
    await relay.stop();
    await chain.stop();
    creator.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

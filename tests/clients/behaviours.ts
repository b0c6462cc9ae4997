/**
 * Runs the table of behaviours.json for one client. A scripted server stands in front of a real relay, and a program in
 * the client's language makes the calls. The table documents its fields.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { setTimeout as delay } from 'node:timers/promises';
import type { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { createCreatorServer, generateSigningKey } from '../../app/sdk/creator/creator.ts';
import { EVENT_STREAM, isEventStream, renderEvent } from '../../app/sdk/wire/eventStream.ts';
import { listen, serve } from '../harness/edge/listen.ts';
import {
  failedAnswer,
  goodAnswer,
  PRICE,
  startMarketplace,
  type TestMarketplace,
} from '../harness/node/marketplace.ts';
import table from './behaviours.json' with { type: 'json' };

interface Step {
  from?: string;
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  error?: string;
  times?: number;
  text?: string;
  merge?: object;
  events?: number;
  then?: string;
}

interface Expected {
  result?: Record<string, unknown>;
  deltas?: string[];
  events?: string[];
  count?: number;
  error?: Record<string, unknown>;
  requests: number | string;
  charged: number;
  min_ms?: number;
}

interface Behaviour {
  name: string;
  client?: Record<string, unknown>;
  call: Record<string, unknown>;
  script: Step[];
  expect: Expected;
}

/** A row of the table, which leaves out what is usual. */
interface Row {
  name: string;
  client?: Record<string, unknown>;
  call?: Record<string, unknown>;
  script?: Step[];
  expect?: Partial<Expected>;
}

function behaviourOf({ call: given, script = [], expect: wanted = {}, ...row }: Row): Behaviour {
  const call: Record<string, unknown> = { method: 'agents.run', ...given };
  const isPaid = call.method === 'agents.run' && !wanted.error;
  const result = { status: 'completed', result: 'done: $task', cost_usdc: '0.25' };
  const usual = { requests: 1, charged: isPaid ? 1 : 0, ...(isPaid && { result }) };
  const steps = script.flatMap((step) => Array<Step>(step.times ?? 1).fill(step));
  return { ...row, call, script: steps, expect: { ...usual, ...wanted } };
}

const BEHAVIOURS: Behaviour[] = [
  ...(table.behaviours as unknown as Row[]).map(behaviourOf),
  ...Object.entries(table.refusals as unknown as Record<string, [number, string]>).map(([code, [status, name]]) => ({
    name: `raises ${name} for ${code}`,
    call: { method: 'agents.retrieve' },
    script: [{ status, error: code }],
    expect: { error: { code, status, class: name }, requests: 1, charged: 0 },
  })),
];

/** One call for the program, which prints the outcomes in the same order. */
export interface Entry {
  base_url: string;
  api_key: string;
  client?: Record<string, unknown>;
  /** If set, the wallet pays instead of the API key: a keypair as JSON, the mint of USDC, a node. */
  wallet?: { keypair: string; asset: string; rpc_url: string };
  call: Record<string, unknown>;
}

export interface Outcome {
  result?: Record<string, unknown>;
  /** The streamed output, if it was requested. */
  deltas?: string[];
  /** Types of the events received. */
  events?: string[];
  count?: number;
  error?: Record<string, unknown>;
  /** The quotes that a wallet checked, if one was given. */
  quotes?: Record<string, unknown>[];
  ms: number;
}

/** Makes all calls at the same time. */
export type Program = (entries: Entry[]) => Promise<Outcome[]>;

/** Requests of one behaviour that the server received. */
interface Seen {
  requests: number;
  keys: Set<string | undefined>;
  executionId: string;
}

/** Starts a marketplace with two agents. The creator behaves as `parameters.creator` says. */
export async function startScene(environment: NodeJS.ProcessEnv = {}, feePayer?: Keypair): Promise<TestMarketplace> {
  // As on a cluster, a blockhash is valid for 30 s.
  const market = await startMarketplace({ slotTimeMs: 200, environment, ...(feePayer && { feePayer }) });
  market.setBehaviour(({ execution_id, task, parameters }, response, reply) => {
    const answer = goodAnswer(market.signingKey, execution_id, `done: ${task}`);
    const good = () => reply(answer);
    const isStreamed = String(response.req.headers.accept).startsWith(EVENT_STREAM);
    if (parameters.creator === 'fails') reply(failedAnswer(execution_id));
    else if (isStreamed && parameters.creator === 'streams') void write(response, answer, 0);
    else if (isStreamed && parameters.creator === 'streams slowly') void write(response, answer, 5_000);
    else if (isStreamed && parameters.creator === 'streams, then fails') {
      void write(response, failedAnswer(execution_id), 0);
    } else if (parameters.creator === 'slow') setTimeout(good, 5_000);
    else if (parameters.creator !== 'silent') good();
  });
  const signingKey = generateSigningKey();
  const second = createCreatorServer({ signingKey, execute: () => ({ result: 'second' }) });
  const endpoint = `${await listen(second)}/execute`;
  await market.list({ name: 'second-agent', endpoint, signingKey });
  second.unref();
  return market;
}

/** Streams five parts of the output, with a pause after each, then the answer. */
async function write(response: ServerResponse, answer: object, pauseMs: number): Promise<void> {
  response.writeHead(200, { 'content-type': EVENT_STREAM });
  for (const text of ['Once ', 'upon ', 'a ', 'time', '\u2028']) {
    response.write(renderEvent('delta', JSON.stringify({ text })));
    if (pauseMs > 0) await delay(pauseMs);
  }
  response.end(renderEvent('result', JSON.stringify(answer)));
}

/** A server that treats requests to `/N/...` as the Nth script says. */
async function startScripted(relayUrl: string, agentId: string) {
  const seen: Seen[] = BEHAVIOURS.map(() => ({ requests: 0, keys: new Set(), executionId: '' }));
  const server = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, index = '', path = ''] = /^\/(\d+)(.*)$/.exec(request.url ?? '') ?? [];
    const mine = seen[Number(index)]!;
    const step = BEHAVIOURS[Number(index)]!.script[mine.requests] ?? { from: 'relay' };
    mine.requests += 1;
    if (request.method === 'POST') mine.keys.add(request.headers['idempotency-key'] as string | undefined);
    const ask = () => forward(`${relayUrl}${path}`, request.method!, request.headers, Buffer.concat(chunks));
    await play(JSON.parse(JSON.stringify(step).replace('$agent', agentId)), mine, ask, response);
  });
  return { ...server, seen };
}

async function play(step: Step, mine: Seen, ask: () => Promise<Response>, response: ServerResponse): Promise<void> {
  const { then } = step;
  if (then === 'silence' && !step.from) return;
  const asked = step.from === 'relay' ? ask() : null;
  if (then === 'close early') {
    // By then the relay has received the whole request and works on it.
    setTimeout(() => response.destroy(), 300);
    await asked!.then((answer) => answer.text()).catch(() => {});
    return;
  }
  const answer = await asked;
  if (answer && isEventStream(answer.headers.get('content-type')) && !then && step.events === undefined) {
    response.writeHead(answer.status, { 'content-type': EVENT_STREAM });
    await pipeline(Readable.fromWeb(answer.body as ReadableStream), response).catch(() => {});
    return;
  }
  let text = answer ? await answer.text() : '';
  mine.executionId = /"execution_id":\s*"([0-9a-f-]{36})"/.exec(text)?.[1] ?? mine.executionId;
  if (then === 'close') return void response.destroy();
  if (step.events !== undefined)
    text = text
      .split(/(?<=\n\n)/)
      .slice(0, step.events)
      .join('');
  if (step.merge) text = JSON.stringify({ ...JSON.parse(text), ...step.merge });
  if (step.text !== undefined) text = step.text;
  const refusal = { code: step.error, message: 'scripted', execution_id: null, details: null };
  const body = step.error ? { error: refusal } : step.body;
  if (body) text = JSON.stringify(body).replace('$execution_id', mine.executionId);
  const wait = answer?.headers.get('retry-after');
  response.writeHead(step.status ?? answer?.status ?? 200, {
    'content-type': answer?.headers.get('content-type') ?? 'application/json',
    ...(then !== 'silence' && { 'content-length': Buffer.byteLength(text) }),
    ...(wait && { 'retry-after': wait }),
    ...step.headers,
  });
  if (then === 'silence') return void response.write(text);
  if (then !== 'break') return void response.end(text);
  response.write(text.slice(0, text.length / 2));
  setTimeout(() => response.destroy(), 100);
}

function forward(url: string, method: string, headers: IncomingHttpHeaders, body: Buffer): Promise<Response> {
  const names = ['authorization', 'content-type', 'idempotency-key', 'last-event-id'];
  const sent = Object.fromEntries(names.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : [])));
  return fetch(url, { method, headers: sent, ...(body.length > 0 && { body }) });
}

/** Waits until no execution runs any more. Those of silent creators are refunded after their timeout. */
export async function allEnded(market: TestMarketplace): Promise<void> {
  const ended = ['settled', 'refunded', 'void'];
  while ((await market.journal()).some(({ state }) => !ended.includes(state))) await delay(100);
}

/** Declares a test for each behaviour. `market` comes from `startScene`. `program` makes all calls once before. */
export function behavesAsTheTableSays(kind: string, market: () => TestMarketplace, program: Program): void {
  describe(`behaviours, ${kind}`, () => {
    const taskOf = (index: number) => `${BEHAVIOURS[index]!.name} (${kind})`;
    let outcomes: Outcome[];
    let seen: Seen[];
    let charges: Map<string, number>;
    let spent: bigint;

    before(async () => {
      const { relay, callers, agentId } = market();
      const scripted = await startScripted(relay.url, agentId);
      const before = (await market().balances()).callers[0]!;
      const entries = BEHAVIOURS.map(({ client = {}, call }, index) => {
        const filled = { agent: agentId, task: taskOf(index), ...call };
        return { base_url: `${scripted.url}/${index}`, api_key: callers[0]!.apiKey, client, call: filled };
      });
      outcomes = await program(entries);
      await allEnded(market());
      ({ seen } = scripted);
      scripted.close();
      charges = await settledByTask();
      spent = before - (await market().balances()).callers[0]!;
    });

    async function settledByTask(): Promise<Map<string, number>> {
      const sql = "SELECT task FROM executions WHERE state = 'settled'";
      const settled = new Map<string, number>();
      for (const { task } of await market().query('ledger', sql)) settled.set(task, (settled.get(task) ?? 0) + 1);
      return settled;
    }

    BEHAVIOURS.forEach(({ name, call: { method }, expect: wanted }, index) => {
      it(name, () => {
        const { ms, ...outcome } = outcomes[index]!;
        const said = JSON.stringify(outcome);
        if (wanted.result) {
          const result = Object.entries(wanted.result).map(([key, value]) => [
            key,
            value === 'done: $task' ? `done: ${taskOf(index)}` : value,
          ]);
          expect(outcome.result, said).to.include(Object.fromEntries(result));
        }
        if (wanted.deltas) expect(outcome.deltas, said).to.deep.equal(wanted.deltas);
        if (wanted.events) expect(outcome.events, said).to.deep.equal(wanted.events);
        if (wanted.count) expect(outcome.count, said).to.equal(wanted.count);
        if (wanted.error) {
          const { has_execution_id, issue_path, details, message_has, ...plain } = wanted.error;
          expect(outcome.error, said).to.include(plain);
          if (has_execution_id) expect(outcome.error!.execution_id).to.match(/^[0-9a-f-]{36}$/);
          if (message_has) expect(outcome.error!.message).to.include(message_has);
          if (details) expect(outcome.error!.details).to.deep.include(details);
          const issues = (outcome.error!.details as { issues?: { path: string }[] })?.issues;
          if (issue_path) expect(issues!.map(({ path }) => path)).to.deep.equal([issue_path]);
        }
        const { requests, keys } = seen[index]!;
        if (typeof wanted.requests === 'number') expect(requests, said).to.equal(wanted.requests);
        else expect(requests, said).to.be.greaterThan(Number(wanted.requests.slice(1)));
        if (keys.size > 0) {
          expect(keys.size).to.equal(1);
          expect([...keys][0])
            .to.be.a('string')
            .with.length.greaterThan(15);
        }
        if (wanted.error && ['agents.run', 'executions.create'].includes(method as string)) {
          expect([outcome.error!.idempotency_key], said).to.deep.equal([...keys]);
        }
        if (wanted.min_ms) expect(ms).to.be.at.least(wanted.min_ms);
        expect(charges.get(taskOf(index)) ?? 0, 'how often it was paid').to.equal(wanted.charged);
      });
    });

    it('spends the price for each paid call, and nothing else', () => {
      const paid = BEHAVIOURS.reduce((sum, { expect: { charged } }) => sum + BigInt(charged), 0n);
      expect(spent).to.equal(paid * PRICE);
    });
  });
}

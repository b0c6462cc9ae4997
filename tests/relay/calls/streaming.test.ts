/**
 * Streamed output: forwarded as it arrives, and paid only for the signed whole. Checks all balances after each outcome.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Response } from 'express';
import { serveConnections } from '../../../app/relay/http/connections.ts';
import { createOutput, finishOutput } from '../../../app/relay/http/outputStream.ts';
import { callCreator, createCreatorPool } from '../../../app/relay/outbound/dispatch.ts';
import { createClient, type MarketplaceError } from '../../../app/sdk/client/index.ts';
import { createExecutionHandler } from '../../../app/sdk/creator/creator.ts';
import { renderEvent } from '../../../app/sdk/wire/eventStream.ts';
import { serve } from '../../harness/edge/listen.ts';
import { deferred, until } from '../../harness/edge/until.ts';
import { type Balances, FEE, goodAnswer, PRICE, request } from '../../harness/node/marketplace.ts';
import { useSharedMarketplace } from './market.ts';

const delta = (text: string) => renderEvent('delta', JSON.stringify({ text }));

/** Writes the head of a stream and its first deltas. */
function begin(response: ServerResponse, ...texts: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const text of texts) response.write(delta(text));
}

describe('streamed output', () => {
  let held: Balances;
  /** The Accept header of each call to the creator. */
  let accepted: string[];

  const market = useSharedMarketplace();
  beforeEach(async () => {
    accepted = [];
    held = await market.balances();
  });

  type Answer = (id: string, response: ServerResponse) => void;
  /** Makes the creator answer like this if the call accepts a stream, and as usual otherwise. */
  function answering(answer: Answer): void {
    market.setBehaviour(({ execution_id, task }, response, reply) => {
      const accept = String(response.req.headers.accept);
      accepted.push(accept);
      if (accept.startsWith('text/event-stream')) answer(execution_id, response);
      else reply(goodAnswer(market.signingKey, execution_id, `whole: ${task}`));
    });
  }
  const result = (id: string, text: string) =>
    renderEvent('result', JSON.stringify(goodAnswer(market.signingKey, id, text)));

  const apiKey = () => market.callers[0]!.apiKey;
  const execute = (body: object, idempotencyKey: string = crypto.randomUUID()) =>
    fetch(`${market.relay.url}/v1/agents/${market.agentId}/execute`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey()}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify(body),
    });
  /** Runs a streamed call with the SDK's client. */
  async function stream(task = 'write', texts: string[] = []) {
    const client = createClient({ baseUrl: market.relay.url, apiKey: apiKey() });
    const outcome = client.request(
      'executeAgent',
      { agent_id: market.agentId, body: { task, stream: true } },
      { onDelta: (text) => void texts.push(text) },
    );
    return { texts, outcome };
  }
  async function refused(texts: string[]): Promise<MarketplaceError> {
    const { outcome } = await stream('write', texts);
    return outcome.then(
      () => expect.fail('it was paid'),
      (reason: MarketplaceError) => reason,
    );
  }
  const expectPaid = async () => {
    const [payer, other] = held.callers;
    expect(await market.balances()).to.deep.equal({
      callers: [payer! - PRICE, other],
      creator: held.creator + PRICE - FEE,
      treasury: held.treasury + FEE,
    });
  };
  const expectRefunded = async () => expect(await market.balances()).to.deep.equal(held);

  it('comes as events, each delta marked as not verified, then exactly the ordinary answer; the creator is paid', async () => {
    answering(async (id, response) => {
      begin(response, 'Once ', 'upon');
      await delay(20);
      response.end(`: a comment\n\n${result(id, 'Once upon a time')}`);
    });
    const key = crypto.randomUUID();
    const answer = await execute({ task: 'write', stream: true }, key);
    expect(answer.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    const text = await answer.text();
    const events = [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, name, data]) => [name, data!]);
    const [execution, first, second, end] = events;
    const { execution_id } = JSON.parse(execution![1]!);
    expect(execution).to.deep.equal(['execution', JSON.stringify({ execution_id, status: 'running' })]);
    expect([first, second]).to.deep.equal([
      ['delta', '{"text":"Once ","verified":false}'],
      ['delta', '{"text":"upon","verified":false}'],
    ]);
    expect([events.length, end![0]]).to.deep.equal([4, 'result']);
    expect(JSON.parse(end![1]!)).to.include({ execution_id, status: 'completed', result: 'Once upon a time' });
    await expectPaid();
    // The same call, repeated in either form, returns the same bytes and costs nothing.
    const again = await execute({ task: 'write' }, key);
    expect(await again.text()).to.equal(end![1]);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    const streamed = await execute({ task: 'write', stream: true }, key);
    expect(await streamed.text()).to.equal(`event: result\ndata: ${end![1]}\n\n`);
    await expectPaid();
    expect(accepted).to.deep.equal(['text/event-stream, application/json']);
  });

  it('is requested from a creator only if its caller asked for it, and the creator may answer without it', async () => {
    answering((id, response) => void response.end(JSON.stringify(goodAnswer(market.signingKey, id, 'at once'))));
    const { texts, outcome } = await stream();
    expect(await outcome).to.include({ status: 'completed', result: 'at once' });
    expect(texts).to.deep.equal([]);
    await expectPaid();
    held = await market.balances();
    const { body } = await request(market.relay.url, `/v1/agents/${market.agentId}/execute`, {
      apiKey: apiKey(),
      body: { task: 'write' },
    });
    expect(body.result).to.equal('whole: write');
    expect(accepted).to.deep.equal(['text/event-stream, application/json', 'application/json']);
    await expectPaid();
  });

  it('of the kit reaches a caller as it is written, and others get the same result', async () => {
    const kit = createExecutionHandler({
      signingKey: market.signingKey,
      async execute({ task }, context) {
        for (const word of ['one ', 'two ']) await context.delta(word);
        return { result: `one two ${task}` };
      },
    });
    market.setBehaviour((body, response) => {
      // The harness has already read its body, as express.json() would.
      kit(Object.assign(response.req, { body }), response);
    });
    const { texts, outcome } = await stream('three');
    expect(await outcome).to.include({ result: 'one two three' });
    expect(texts).to.deep.equal(['one ', 'two ']);
    await expectPaid();
    const whole = await (await execute({ task: 'four' })).json();
    expect(whole).to.include({ result: 'one two four' });
  });

  const FAULTS: [string, Answer, string][] = [
    ['ends before its result', (_, response) => response.end(), 'ended without a result event'],
    [
      'ends with a bad signature',
      (id, response) =>
        response.end(
          renderEvent('result', JSON.stringify({ ...goodAnswer(market.signingKey, id, 'x'), signature: 'ed25519:1' })),
        ),
      'signature must be ed25519: and the base58',
    ],
    [
      'is larger than the limit for answers',
      (_, response) => response.end(delta('x'.repeat(5 * 1024 * 1024))),
      'larger than 5242880 bytes',
    ],
    ['has an invalid delta', (_, response) => response.end('event: delta\ndata: x\n\n'), 'is not {"text"'],
    ['is not UTF-8', (_, response) => response.end(Buffer.from([0xff, 0x0a])), 'not valid UTF-8'],
  ];
  for (const [name, rest, says] of FAULTS) {
    it(`is refunded, and the caller gets the reason, when it ${name}`, async () => {
      const texts: string[] = [];
      answering(async (id, response) => {
        begin(response, 'believe me');
        // A fault in the same piece could take the delta with it.
        await until('the caller has the delta', () => texts.length > 0);
        rest(id, response);
      });
      const error = await refused(texts);
      expect(texts[0]).to.equal('believe me');
      expect(error).to.include({ status: null, code: 'execution_failed' });
      expect(error.message).to.contain(says);
      expect(error.executionId).to.match(/^[0-9a-f-]{36}$/);
      await expectRefunded();
    });
  }

  it('is refunded at the deadline if it never ends', async () => {
    answering((_, response) => {
      begin(response);
      const timer = setInterval(() => response.write(delta('more ')), 100);
      response.once('close', () => clearInterval(timer));
    });
    const answer = await execute({ task: 'write', stream: true, timeout_seconds: 1 });
    const text = await answer.text();
    expect(text).to.match(/event: error\ndata: .*"code":"execution_timeout".*\n\n$/);
    await expectRefunded();
  });

  it('is requested again as a whole after a lost connection, and no delta comes twice', async () => {
    const texts: string[] = [];
    answering(async (_, response) => {
      begin(response, 'lost');
      await until('the caller has the delta', () => texts.length > 0);
      response.destroy();
    });
    const { outcome } = await stream('write', texts);
    expect(await outcome).to.include({ status: 'completed', result: 'whole: write' });
    expect(texts).to.deep.equal(['lost']);
    expect(accepted).to.deep.equal(['text/event-stream, application/json', 'application/json']);
    await expectPaid();
  });

  it('does not stop when its caller disconnects: the call is settled, and a repeat gets its result', async () => {
    const { promise: gone, resolve: left } = deferred();
    answering(async (id, response) => {
      begin(response, 'going on');
      await gone;
      response.end(result(id, 'finished'));
    });
    const key = crypto.randomUUID();
    const answer = await execute({ task: 'write', stream: true }, key);
    const reader = answer.body!.getReader();
    await reader.read();
    await reader.cancel();
    left();
    let repeated = await execute({ task: 'write', stream: true }, key);
    while (repeated.status === 409) {
      await repeated.body?.cancel();
      await delay(100);
      repeated = await execute({ task: 'write', stream: true }, key);
    }
    expect(await repeated.text()).to.match(/^event: result\ndata: .*"result":"finished".*\n\n$/);
    await expectPaid();
  });

  it('pauses for a caller that reads nothing, but not for long, and never fills the memory', async () => {
    const text = 'x'.repeat(1024 * 1024);
    const seen = { mostBytes: 0, ms: 0 };
    const answer = async (response: ServerResponse) => {
      const output = createOutput(Object.assign(response, { locals: {} }) as unknown as Response, 300);
      output.want();
      output.begun('an id');
      const begunMs = performance.now();
      for (let part = 0; part < 64; part += 1) {
        await output.delta(text);
        seen.mostBytes = Math.max(seen.mostBytes, response.writableLength);
      }
      seen.ms = performance.now() - begunMs;
      expect(finishOutput(response as unknown as Response, 200, [Buffer.from('{}')])).to.equal(true);
    };
    const server = createServer().listen(0, '127.0.0.1');
    serveConnections(server, (_, response) => void answer(response), 1_000);
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    // The caller does not read the result either, and is disconnected.
    await once(server, 'connection').then(([served]) => once(served, 'close'));
    expect(seen.ms).to.be.within(250, 60_000);
    expect(seen.mostBytes).to.be.below(4 * 1024 * 1024);
    socket.destroy();
    server.close();
  });

  it('is refused together with `async`, and errors before it begins are ordinary answers', async () => {
    const both = await execute({ task: 'write', stream: true, async: true });
    expect(both.status).to.equal(400);
    const { error } = (await both.json()) as { error: { code: string; details: object } };
    expect(error).to.deep.include({ code: 'invalid_request' });
    expect(error.details).to.deep.equal({
      issues: [{ in: 'body', path: 'stream', expected: 'must not be true together with "async"', got: 'true' }],
    });
    const cheap = await execute({ task: 'write', stream: true, max_cost_usdc: 0.01 });
    expect([cheap.status, cheap.headers.get('content-type')]).to.deep.equal([409, 'application/json; charset=utf-8']);
    await expectRefunded();
  });

  it('is given up after a silence', async () => {
    const { url, close } = await serve((_, response) => begin(response, 'hm'));
    const pool = createCreatorPool({ allowPrivate: true, sign: async () => ({}), streamIdleMs: 200 });
    const texts: string[] = [];
    const answer = await callCreator(pool, {
      endpoint: `${url}/execute`,
      request: { execution_id: 'x', task: 'x', parameters: '{}', user_pubkey: 'x', timeout_seconds: 20 },
      signingKey: 'x',
      deadlineMs: performance.now() + 20_000,
      onDelta: async (text) => void texts.push(text),
    });
    expect(answer).to.include({ kind: 'failed', message: "The creator's stream was silent for 0.2 seconds" });
    expect(texts).to.deep.equal(['hm']);
    await pool.destroy();
    close();
  });
});

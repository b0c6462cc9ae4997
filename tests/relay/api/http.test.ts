/** Rules for every route: request ids, one error format, methods, unknown paths, broken HTTP; and /health. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ErrorBody } from '../../../app/sdk/wire/wire.ts';
import { useWorld } from '../../harness/edge/api.ts';

interface RawAnswer {
  status: number;
  head: string;
  body: string;
}

/** Sends raw bytes, and reads until the server closes. */
function sendRaw(port: number, request: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('close', () => {
      const [head = '', ...body] = text.split('\r\n\r\n');
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body: body.join('\r\n\r\n') });
    });
    socket.on('error', reject);
  });
}

describe('every route', () => {
  const world = useWorld();

  const READ = ['GET', 'HEAD', 'OPTIONS'];
  const WRITE = ['POST', 'OPTIONS'];
  const ROUTES: [path: string, allowed: string[]][] = [
    ['/v1/agents', READ],
    ['/v1/metadata', WRITE],
    ['/results/x/y', READ],
    ['/.well-known/http-message-signatures-directory', READ],
    ['/health', READ],
  ];
  for (const [path, allowed] of ROUTES) {
    it(`${path} refuses other methods than ${allowed.join(', ')}`, async () => {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
        const answer = await world.call(path, { method });
        expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
        if (allowed.includes(method)) {
          expect(answer.status, method).to.not.equal(405);
          continue;
        }
        expect(answer.status, method).to.equal(405);
        expect(answer.headers.get('allow')).to.equal(allowed.join(', '));
        if (method === 'HEAD') continue;
        const error = { code: 'method_not_allowed', execution_id: null, details: { allowed } };
        expect(answer.json.error).to.deep.include(error);
      }
    });
  }

  it('gives each answer its own X-Request-Id', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await world.get('/health')).headers.get('x-request-id')),
    );
    expect(new Set(ids).size).to.equal(20);
  });

  it('answers HEAD as GET, without the body', async () => {
    const [get, head] = [await world.get('/v1/agents'), await world.call('/v1/agents', { method: 'HEAD' })];
    expect(head.status).to.equal(200);
    expect(head.text).to.equal('');
    expect(head.headers.get('content-length')).to.equal(String(get.text.length));
  });

  it('sends JSON with a fixed media type that no browser guesses', async () => {
    const { headers } = await world.get('/v1/agents');
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(headers.get('x-powered-by')).to.equal(null);
  });

  const UNKNOWN = [
    '/v1',
    '/v1/',
    '/v2/agents',
    '/V1/agents',
    '/v1/Agents',
    '/v1/agents/',
    '/v1/agents/x/',
    '//v1/agents',
  ];
  for (const path of [
    ...UNKNOWN,
    '/v1/agents/x/execute/',
    '/v1/agents/x/start',
    '/favicon.ico',
    '/%ZZ',
    '/.env',
    '/results',
  ]) {
    it(`answers 404 not_found for ${path}`, async () => {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { status, json } = await world.call(path, { method });
        expect(status).to.equal(404);
        expect(json.error).to.include({ code: 'not_found', execution_id: null });
      }
    });
  }

  const BROKEN: [name: string, request: string][] = [
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['an unknown method', 'FETCH /v1/agents HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a broken header', 'GET /v1/agents HTTP/1.1\r\nHost x\r\n\r\n'],
    ['a line break in a header', 'GET /v1/agents HTTP/1.1\r\nHost: x\r\nA: b\nc\r\n\r\n'],
    ['an address of 20 KB', `GET /v1/agents?tags=${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['a header of 20 KB', `GET /v1/agents HTTP/1.1\r\nHost: x\r\nCookie: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['two lengths', 'POST /v1/metadata HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    [
      'length and chunks',
      'POST /v1/metadata HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    ['a negative length', 'POST /v1/metadata HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
  ];
  for (const [name, request] of BROKEN) {
    it(`rejects in the same error format: ${name}`, async () => {
      const { status, head, body } = await sendRaw(world.port, request);
      expect(status).to.equal(400);
      expect(head).to.match(/X-Request-Id: [0-9a-f-]{36}/);
      expect(ErrorBody.parse(JSON.parse(body)).error).to.include({ code: 'invalid_request', execution_id: null });
    });
  }

  it('answers with an error body where Node alone would send an empty one', async () => {
    const end = 'Connection: close\r\n\r\n';
    const noHost = await sendRaw(world.port, `GET /nowhere HTTP/1.1\r\n${end}`);
    expect([noHost.status, JSON.parse(noHost.body).error.code]).to.deep.equal([404, 'not_found']);
    const expectation = await sendRaw(world.port, `GET /nowhere HTTP/1.1\r\nHost: x\r\nExpect: a-pony\r\n${end}`);
    expect([expectation.status, JSON.parse(expectation.body).error.code]).to.deep.equal([404, 'not_found']);
  });

  it('refuses a body of a gigabyte before it arrives', async () => {
    const head = 'POST /v1/metadata HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n';
    const { status, body } = await sendRaw(world.port, `${head}Content-Length: 1073741824\r\n\r\n{`);
    expect([status, JSON.parse(body).error.code]).to.deep.equal([413, 'payload_too_large']);
  });

  it('continues after a client disconnects in the middle of its body', async () => {
    const head =
      'POST /v1/metadata HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{';
    await new Promise<void>((resolve) => {
      const socket = connect(world.port, '127.0.0.1', () => {
        socket.write(head);
        socket.end();
      });
      socket.on('close', () => resolve());
      socket.resume();
    });
    expect((await world.get('/v1/agents')).status).to.equal(200);
  });
});

describe('GET /health and GET /ready', () => {
  const world = useWorld();

  const poll = (slot: bigint, checkedAt: number) =>
    world.index
      .insertInto('progress')
      .values({ id: 1n, slot, checked_at: BigInt(checkedAt) })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ slot, checked_at: BigInt(checkedAt) }))
      .execute();

  const EXPECTED = { advice: [] as string[], environment: 'test', executions_in_flight: 3 };

  async function notReady(problems: string[]): Promise<void> {
    // After 2 s the chain is read again.
    world.state.nowMs += 2_000;
    const { status, json } = await world.get('/ready');
    expect([status, json.status, json.problems]).to.deep.equal([503, 'not_ready', problems]);
    const { status: alive, json: health } = await world.get('/health');
    expect([alive, health.status, health.problems]).to.deep.equal([200, 'ok', world.state.obstacles]);
  }

  it("are healthy for a process that answers, and not ready before the indexer's first check", async () => {
    const { status, json } = await world.get('/ready');
    expect(status).to.equal(503);
    const indexer = { slot: null, lag_ms: null };
    expect(json).to.deep.equal({ status: 'not_ready', problems: ['index_behind'], indexer, ...EXPECTED });
    const health = await world.get('/health');
    expect(health.status).to.equal(200);
    expect(health.json).to.have.all.keys('status', 'environment', 'release', 'build', 'uptime_seconds', 'problems');
    expect(health.json).to.deep.include({ status: 'ok', environment: 'test', problems: [] });
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
    expect([health.json.release, health.json.build]).to.deep.equal([version, commit.slice(0, 12)]);
  });

  it('are ready while the indexer makes its checks, the chain answers and the gate is open', async () => {
    await poll(77n, world.state.nowMs - 1_500);
    const { status, json } = await world.get('/ready');
    expect(status).to.equal(200);
    const indexer = { slot: 77, lag_ms: 1_500 };
    expect(json).to.deep.equal({ status: 'ready', problems: [], indexer, ...EXPECTED });
  });

  it('are not ready when the indexer has made no check for more than 30 s', async () => {
    await poll(77n, world.state.nowMs - 30_000);
    expect((await world.get('/ready')).status).to.equal(200);
    await poll(77n, world.state.nowMs - 28_001);
    await notReady(['index_behind']);
    expect((await world.get('/ready')).json.indexer.lag_ms).to.equal(30_001);
  });

  it('are not ready when the chain does not answer, and name every problem', async () => {
    await poll(77n, world.state.nowMs + 20_000);
    world.state.chainAnswers = false;
    await notReady(['chain_unreachable']);
    world.state.obstacles = ['stopping'];
    await notReady(['chain_unreachable', 'stopping']);
    world.state.chainAnswers = true;
    for (const obstacle of [
      'chain_behind',
      'clock_wrong',
      'chain_restarted',
      'ledger_unreconciled',
      'authority_changed',
      'authority_shared',
      'opens_paused',
      'fees_low',
      'storage_low',
      'stopping',
    ] as const) {
      world.state.obstacles = [obstacle];
      await notReady([obstacle]);
    }
    world.state.obstacles = [];
    expect((await world.get('/ready')).status).to.equal(200);
  });

  it('name the action a person must take when a problem does not end without help', async () => {
    Object.assign(world.state, { obstacles: ['fees_low'], advice: ['Send 1 SOL.'] });
    world.state.nowMs += 2_000;
    expect((await world.get('/ready')).json).to.deep.include({ problems: ['fees_low'], advice: ['Send 1 SOL.'] });
    Object.assign(world.state, { obstacles: [], advice: [] });
  });
});

/** Rules for every route: request ids, one error format, methods, unknown paths, broken HTTP; and /health. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import { ErrorBody } from '../../../app/sdk/wire/wire.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { metadataOf, newExecutionId } from '../../harness/edge/rows.ts';

/** Sends raw bytes, and reads until the server closes. */
async function sendRaw(port: number, request: string) {
  const socket = connect(port, '127.0.0.1', () => socket.write(request));
  const [head = '', ...body] = (await text(socket)).split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body: body.join('\r\n\r\n') };
}

describe('every route', () => {
  const world = useWorld();

  const ROUTES: [path: string, allowed: string[]][] = [
    ['/v1/agents', ['GET', 'HEAD', 'OPTIONS']],
    ['/v1/metadata', ['POST', 'OPTIONS']],
    ['/results/x/y', ['GET', 'HEAD', 'OPTIONS']],
  ];
  it('refuses other methods than those of its path', async () => {
    for (const [path, allowed] of ROUTES) {
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
    }
  });

  it('answers HEAD as GET, without the body, with its own X-Request-Id, and JSON that no browser guesses', async () => {
    const [get, head] = [await world.get('/v1/agents'), await world.call('/v1/agents', { method: 'HEAD' })];
    expect([head.status, head.text]).to.deep.equal([200, '']);
    expect(head.headers.get('content-length')).to.equal(String(get.text.length));
    expect(head.headers.get('x-request-id')).to.not.equal(get.headers.get('x-request-id'));
    expect(get.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(get.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(get.headers.get('x-powered-by')).to.equal(null);
  });

  it('answers 404 not_found for every other path', async () => {
    const near = ['/v1/', '/V1/agents', '/v1/Agents', '/v1/agents/', '//v1/agents'];
    for (const path of [...near, '/favicon.ico', '/%ZZ', '/results']) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { outcome, json } = await world.call(path, { method });
        expect([outcome, json.error.execution_id], `${method} ${path}`).to.deep.equal(['404 not_found', null]);
      }
    }
  });

  const BROKEN: [name: string, request: string][] = [
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['an address of 20 KB', `GET /v1/agents?tags=${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['two lengths', 'POST /v1/metadata HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
  ];
  it('rejects broken HTTP in the same error format', async () => {
    for (const [name, request] of BROKEN) {
      const { status, head, body } = await sendRaw(world.port, request);
      expect(status, name).to.equal(400);
      expect(head).to.match(/X-Request-Id: [0-9a-f-]{36}/);
      expect(ErrorBody.parse(JSON.parse(body)).error).to.include({ code: 'invalid_request', execution_id: null });
    }
  });

  it('answers with an error body where Node alone would send an empty one', async () => {
    const end = 'Connection: close\r\n\r\n';
    const noHost = await sendRaw(world.port, `GET /nowhere HTTP/1.1\r\n${end}`);
    const expectation = await sendRaw(world.port, `GET /nowhere HTTP/1.1\r\nHost: x\r\nExpect: a-pony\r\n${end}`);
    for (const { status, body } of [noHost, expectation])
      expect([status, JSON.parse(body).error.code]).to.deep.equal([404, 'not_found']);
  });

  it('refuses a body of a gigabyte before it arrives', async () => {
    const head = 'POST /v1/metadata HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n';
    const { status, body } = await sendRaw(world.port, `${head}Content-Length: 1073741824\r\n\r\n{`);
    expect([status, JSON.parse(body).error.code]).to.deep.equal([413, 'payload_too_large']);
  });

  it('refuses numbers that a double cannot represent, with their path, before any payment', async () => {
    const agent = await world.addListing();
    const key = await world.addKey();
    const metadata = new TextDecoder()
      .decode(encodeMetadata(metadataOf({ output_schema: { maximum: 7 } })))
      .replace('7', '1e999');
    const bodies: [path: string, body: string, at: string][] = [
      [`/v1/agents/${agent}/execute`, '{"task":"t","parameters":{"n":[12345678901234567890]}}', 'parameters.n.0'],
      [`/v1/executions/${newExecutionId()}/start`, '{"task":"t","parameters":{"n":1e400}}', 'parameters.n'],
      ['/v1/metadata', metadata, 'output_schema.maximum'],
      ['/trpc/keys.register', '{"allowed_ips":{"n":12345678901234567890}}', 'allowed_ips.n'],
    ];
    for (const [path, body, at] of bodies) {
      const answer = await world.post(path, body, path.endsWith('/execute') ? { key: key.apiKey } : {});
      expect(answer.status, path).to.equal(400);
      expect(answer.text, path).to.include(`\\"${at}\\"`);
      const { details } = answer.json.error.data ?? answer.json.error;
      expect(details.issues[0].path, path).to.equal(at);
    }
    expect(world.state.executed).to.deep.equal([]);
  });

  describe('GET /health and GET /ready', () => {
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

    it('are ready while the chain answers, the gate is open, and the indexer made a check within 30 s', async () => {
      await world.setProgress(77n, world.state.nowMs - 1_500);
      const { status, json } = await world.get('/ready');
      expect(status).to.equal(200);
      const indexer = { slot: 77, lag_ms: 1_500 };
      expect(json).to.deep.equal({ status: 'ready', problems: [], indexer, ...EXPECTED });
      await world.setProgress(77n, world.state.nowMs - 30_000);
      expect((await world.get('/ready')).status).to.equal(200);
      await world.setProgress(77n, world.state.nowMs - 28_001);
      await notReady(['index_behind']);
      expect((await world.get('/ready')).json.indexer.lag_ms).to.equal(30_001);
    });

    it('are not ready when the chain does not answer, and name every problem', async () => {
      await world.setProgress(77n, world.state.nowMs + 20_000);
      world.state.chainAnswers = false;
      await notReady(['chain_unreachable']);
      world.state.obstacles = ['stopping'];
      await notReady(['chain_unreachable', 'stopping']);
      world.state.chainAnswers = true;
      world.state.obstacles = ['clock_wrong'];
      await notReady(['clock_wrong']);
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

  describe('chain reads shared by all requests', () => {
    let reads = 0;
    before(async () => {
      const { accounts } = world.deps;
      const { readConfig, isReachable } = accounts;
      const counting =
        <Value>(read: () => Promise<Value>) =>
        () => {
          reads += 1;
          return read();
        };
      Object.assign(accounts, { readConfig: counting(readConfig), isReachable: counting(isReachable) });
      await world.setProgress(1n);
    });
    beforeEach(() => {
      world.state.nowMs += 2_000;
    });

    for (const path of ['/trpc/config.get', '/ready']) {
      it(`are one for all requests of ${path}, at most 2 s old, also if it fails or the clock is set back`, async () => {
        const statusOf = async () => (await world.get(path)).status;
        for (const [chainAnswers, first, then] of [
          [true, 200, 503],
          [false, 503, 200],
        ] as const) {
          reads = 0;
          world.state.chainAnswers = chainAnswers;
          expect([...new Set(await Promise.all(Array.from({ length: 30 }, statusOf)))]).to.deep.equal([first]);
          expect(reads).to.equal(1);
          world.state.chainAnswers = !chainAnswers;
          world.state.nowMs += 1_999;
          expect([await statusOf(), reads]).to.deep.equal([first, 1]);
          world.state.nowMs += 1;
          expect([await statusOf(), reads]).to.deep.equal([then, 2]);
          world.state.nowMs += 2_000;
        }
        expect(await statusOf()).to.equal(200);
        world.state.nowMs -= 60_000;
        world.state.chainAnswers = false;
        expect(await statusOf()).to.equal(503);
        Object.assign(world.state, { chainAnswers: true, nowMs: world.state.nowMs + 60_000 });
      });
    }
  });
});

/** The log's filter: its list of fields, every line of the source that logs, and a run full of secrets. */
import { readdirSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLog, FIELDS } from '../../../app/relay/log.ts';
import { createApiKey } from '../../../app/sdk/receipt/apiKey.ts';
import { until } from '../../harness/edge/until.ts';
import { failedAnswer, goodAnswer, useMarketplace } from '../../harness/node/marketplace.ts';
import { type RelayMain, startRelayMain, useIndexer } from '../../harness/node/relayMain.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

describe('the list of fields', () => {
  function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown> {
    const lines: string[] = [];
    write(createLog('debug', { write: (line: string) => void lines.push(line) }));
    expect(lines).to.have.length(1);
    const { time, pid, hostname, ...rest } = JSON.parse(lines[0]!);
    return rest;
  }

  it('passes known fields, and drops every other field and every value of another shape', () => {
    const known = { execution_id: '0b9e2f3a-7f63-8a1e-9f00-000000000001', status: 200 };
    const unknown = { task: 'canary', parameters: { a: 1 }, authorization: 'Bearer x', result: 'y' };
    const strange = { route: '/v1/Canary?task=x', url: 'http://x/canary', method: 'a b', signature: '{"a":1}' };
    const others = { passed: 'yes', key_id: 'crtx_test_x', constructor: 'x', toString: 'x' };
    const rest = { level: 30, msg: 'request' };
    expect(logged((log) => log.info({ ...known, ...unknown, ...strange, ...others }, 'request'))).to.deep.equal({
      ...known,
      ...rest,
    });
    expect(logged((log) => log.info({ execution_id: 'canary', status: '200' }, 'request'))).to.deep.equal(rest);
  });

  it('logs the kind and place of an error, without the text it quotes', () => {
    const told = (error: unknown) => String(logged((log) => log.error({ error }, 'fault')).error);
    expect(told('Error: connect ECONNREFUSED 127.0.0.1:1')).to.equal('Error: connect ECONNREFUSED 127.0.0.1:1');
    expect(told('TypeError: cannot read "canary \\" x" of \'canary\' or `canary`')).to.equal(
      'TypeError: cannot read … of … or …',
    );
    let syntax: unknown;
    try {
      JSON.parse('{"task": canary}');
    } catch (error) {
      syntax = error;
    }
    expect(told(syntax))
      .to.match(/^SyntaxError\n.*log\.test\.ts/)
      .and.not.include('canary');
    expect(told(`SyntaxError: canary\n    at canary (file:canary)`)).to.not.match(/^.*canary$/m);
    expect(told({ code: -32_000, message: 'the node is "canary"' })).to.equal('Object: the node is …');
    expect(told({ task: 'canary' })).to.equal('Object: without a message');
    expect(told(`Error: ${'long '.repeat(200)}`).length).to.equal(300);
  });

  it('logs no message of an error, and no values inside a message', () => {
    expect(logged((log) => log.error(new Error('x "canary"')))).to.include({ msg: 'fault' });
    expect(logged((log) => log.info('%s', 'canary'))).to.deep.equal({ level: 30, msg: '%s' });
  });

  it('contains every field that relay and indexer log', () => {
    const files = ['app/relay', 'indexer'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(ROOT, folder, name)),
    );
    const unknown: string[] = [];
    let calls = 0;
    for (const file of files) {
      for (const [, fields] of readFileSync(file, 'utf8').matchAll(
        /\blog\s*\.(?:debug|info|warn|error)\(\s*\{([^}]*)\}/g,
      )) {
        calls += 1;
        const names = fields!.split(',').map((part) => part.split(':')[0]!.trim());
        unknown.push(
          ...names.filter((name) => name !== '' && !Object.hasOwn(FIELDS, name)).map((name) => `${file}: ${name}`),
        );
      }
    }
    expect(calls).to.be.greaterThan(20);
    expect(unknown).to.deep.equal([]);
  });
});

describe('the log of a run full of secrets', () => {
  let relay: RelayMain;
  const canaries: string[] = [];
  const canary = (where: string): string => {
    const text = `canary${where}${Math.random().toString(36).slice(2)}`;
    canaries.push(text);
    return text;
  };

  const market = useMarketplace();
  useIndexer(market);
  before(async () => {
    relay = await startRelayMain(market, { LOG_LEVEL: 'debug' });
  });
  after(async () => {
    relay.child.kill('SIGKILL');
    await relay.exited;
  });

  it('contains none of them, and still reports all events', async () => {
    const { url } = relay;
    const apiKey = market.callers[0]!.apiKey;
    canaries.push(apiKey, market.callers[1]!.apiKey, apiKey.split('_').at(-1)!);
    const execute = (body: object, key = apiKey) => market.execute(url, body, { apiKey: key });

    const result = canary('Result');
    const steps = [{ step: canary('Step') }];
    const reason = canary('Reason');
    market.setBehaviour((body, response, reply) => {
      const { mode } = body.parameters as { mode?: string };
      if (mode === 'fails') reply(failedAnswer(body.execution_id, reason));
      else if (mode === 'garbage') response.end(`{"${reason}": nonsense`);
      else if (mode === 'lies')
        reply({ ...goodAnswer(market.signingKey, body.execution_id, result), signature: reason });
      else if (mode === 'status') response.writeHead(500, reason.slice(0, 20), { 'x-reason': reason }).end(reason);
      else reply({ ...goodAnswer(market.signingKey, body.execution_id, result), steps });
    });
    const task = canary('Task');
    const parameters = { note: canary('Parameter'), [canary('Name')]: 1 };
    const done = await execute({ task, parameters });
    expect([done.status, done.body.result]).to.deep.equal([200, result]);
    canaries.push(done.body.ipfs_url.split('/').at(-1));
    expect((await fetch(done.body.ipfs_url)).status).to.equal(200);
    const pending = await execute({ task, parameters, async: true });
    expect(pending.body.status).to.be.oneOf(['pending', 'running']);
    for (const mode of ['fails', 'garbage', 'lies', 'status']) {
      expect((await execute({ task, parameters: { ...parameters, mode } })).status, mode).to.equal(500);
    }

    const post = (path: string, body: string, headers: Record<string, string> = {}) =>
      fetch(url + path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
    const path = `/v1/agents/${market.agentId}/execute`;
    const bearer = { authorization: `Bearer ${apiKey}` };
    const malformed = [`{"task": ${canary('Body')}`, canary('Text'), `{"task": "x", "task": "${canary('Twice')}"}`];
    malformed.push(`{"${canary('Field')}": 1}`, `{"task": ${'['.repeat(100)}"${canary('Deep')}"`);
    for (const body of malformed) expect((await post(path, body, bearer)).status).to.equal(400);
    expect((await post(path, canary('Type'), { ...bearer, 'content-type': `text/${canary('Mime')}` })).status).to.equal(
      415,
    );
    const wrongKeys = [canary('Key'), createApiKey('test'), createApiKey('live'), `${apiKey}x`];
    for (const key of wrongKeys) {
      canaries.push(key);
      expect((await execute({ task }, key)).status).to.equal(401);
    }
    expect((await post('/v1/metadata', JSON.stringify({ name: canary('Metadata') }))).status).to.equal(400);
    expect((await post(`/trpc/keys.register`, JSON.stringify({ name: canary('Trpc') }))).status).to.equal(400);
    expect((await fetch(`${url}/trpc/${canary('Procedure')}`)).status).to.equal(404);
    for (const wrong of [`/${canary('Path')}`, `/v1/agents/${canary('Agent')}`, `/v1/agents?${canary('Query')}=1`]) {
      expect((await fetch(url + wrong)).status).to.be.oneOf([400, 404]);
    }
    const headers = { 'user-agent': canary('Agent'), cookie: canary('Cookie'), 'idempotency-key': canary('Repeat') };
    expect((await post(path, JSON.stringify({ task }), { ...bearer, ...headers })).status).to.equal(200);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
        socket.end(`${canary('Raw')} / HTTP/9\r\n\r\n`),
      );
      socket.on('close', () => resolve()).resume();
    });
    await new Promise<void>((resolve) => {
      const broken = httpRequest(`${url}${path}`, { method: 'POST', headers: { ...bearer, 'content-length': 100 } });
      broken.on('error', () => resolve());
      broken.write(canary('Half'), () => broken.destroy());
    });

    const written = () => relay.log();
    await until(
      'every request is logged',
      () => (written().match(/"msg":"request"/g) ?? []).length >= 25,
      undefined,
      written,
    );
    for (const secret of canaries) expect(written().includes(secret), secret).to.equal(false);
    expect(canaries.length).to.be.greaterThan(25);
    const text = written();
    // The last line may be incomplete.
    const whole = text.slice(0, text.lastIndexOf('\n')).split('\n');
    const lines = whole.map((line) => JSON.parse(line));
    for (const line of lines) {
      const { level, time, pid, hostname, msg, ...fields } = line;
      expect(Object.keys(fields).filter((name) => !Object.hasOwn(FIELDS, name))).to.deep.equal([]);
    }
    const executed = lines.filter((line) => line.route === '/v1/agents/:agent_id/execute').map((line) => line.status);
    expect(executed).to.include.members([200, 400, 401, 415, 500]);
  });
});

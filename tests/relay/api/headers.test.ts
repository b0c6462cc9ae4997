/** Headers of answers: caching, and the origins that may read them. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { hashResult } from '../../../app/sdk/receipt/receipt.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { newExecutionId, type TestKey } from '../../harness/edge/rows.ts';

const RESULT = 'Zürich — 東京 🚀\r\n<script>alert(1)</script>\0 end';

describe('headers', () => {
  let key: TestKey;
  let listing: string;
  let result: string;
  const world = useWorld();
  before(async () => {
    key = await world.addKey();
    listing = await world.addListing();
    const execution = { execution_id: newExecutionId(), caller: key.wallet, listing, result_hash: null };
    await world.addRecord(execution);
    await world.addJournal({ execution_id: execution.execution_id, wallet: key.wallet, listing, state: 'settled' });
    const token = await world.addResult(execution.execution_id, RESULT);
    result = `/results/${execution.execution_id}/${token}`;
  });

  const KEPT: [name: string, path: () => string, cacheControl: string][] = [
    ['an agent', () => `/v1/agents/${listing}`, 'public, max-age=5'],
    ['a result', () => result, 'private, max-age=31536000, immutable'],
    ['a document', () => '/openapi.json', 'public, max-age=300'],
  ];
  for (const [name, path, cacheControl] of KEPT) {
    it(`allow ${name} to be cached, and send it again only after a change`, async () => {
      const first = await world.get(path());
      expect(first.status).to.equal(200);
      expect(first.headers.get('cache-control')).to.equal(cacheControl);
      const etag = first.headers.get('etag')!;
      // The ETag of a result is its hash.
      expect(etag).to.match(name === 'a result' ? /^"sha256:[0-9a-f]{64}"$/ : /^"[\w-]{27}"$/);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await world.call(path(), { headers: { 'if-none-match': known } });
        expect([again.status, again.text], known).to.deep.equal([304, '']);
        expect(again.headers.get('etag')).to.equal(etag);
        expect(again.headers.get('cache-control')).to.equal(cacheControl);
        expect(again.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
      }
      const other = await world.call(path(), { headers: { 'if-none-match': '"other"' } });
      expect([other.status, other.text]).to.deep.equal([200, first.text]);
      const head = await world.call(path(), { method: 'HEAD' });
      expect([head.status, head.text, head.headers.get('etag')]).to.deep.equal([200, '', etag]);
      const headAgain = await world.call(path(), { method: 'HEAD', headers: { 'if-none-match': etag } });
      expect(headAgain.status).to.equal(304);
    });
  }

  it('send a result as the exact bytes of its hash, as text that no browser runs, to who has its address', async () => {
    const { status, headers, text } = await world.get(result);
    expect([status, text]).to.deep.equal([200, RESULT]);
    expect(headers.get('etag')).to.equal(`"${hashResult(RESULT)}"`);
    expect(headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(headers.get('content-security-policy')).to.equal('sandbox');
    const [, , id, token] = result.split('/');
    const wrong = [`${id}/${token!.slice(0, -1)}`, `${newExecutionId()}/${token}`, `x/${token}`, `${id}/%ZZ`, id];
    for (const path of wrong) expect((await world.get(`/results/${path}`)).outcome, path).to.equal('404 not_found');
  });

  it('let the first address name the others, for programs and for browsers without a page', async () => {
    for (const accept of ['*/*', 'application/json', 'text/html,application/xhtml+xml,*/*;q=0.8']) {
      const { status, headers, json } = await world.call('/', { headers: { accept } });
      expect([status, headers.get('vary')]).to.deep.equal([200, 'Accept']);
      const { url } = world;
      expect(json).to.deep.equal({ docs: `${url}/docs`, openapi: `${url}/openapi.json`, idl: `${url}/idl.json` });
    }
    const { headers, text } = await world.get('/idl.json');
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(text).to.equal(readFileSync('app/sdk/program/idl/marketplace.json', 'utf8'));
  });

  it('forbid caching of private answers, answers about money and errors, and say when to retry a 202', async () => {
    const post = await world.post(`/v1/agents/${listing}/execute`, { task: 'x' }, { key: key.apiKey });
    expect(post.status).to.equal(200);
    const answers = [
      post,
      await world.get('/v1/executions', key.apiKey),
      await world.get('/v1/executions'),
      await world.get(`/v1/executions/${newExecutionId()}`, key.apiKey),
      await world.get('/nowhere'),
      await world.get('/health'),
      await world.call('/v1/agents', { method: 'OPTIONS' }),
    ];
    for (const { headers } of answers) {
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('etag')).to.equal(null);
    }
    for (const { headers } of answers.slice(0, 4)) expect(headers.get('vary')).to.equal('Authorization, Cookie');
    expect(answers[2]!.headers.get('www-authenticate')).to.equal('Bearer');
    world.state.execute = async () => ({ kind: 'running', executionId: newExecutionId() });
    const running = await world.post(`/v1/agents/${listing}/execute`, { task: 'x' }, { key: key.apiKey });
    expect([running.status, running.headers.get('retry-after')]).to.deep.equal([202, '1']);
  });

  describe('to pages of other origins', () => {
    const preflight = (path: string, method: string, headers: string) =>
      world.call(path, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://a-page.example',
          'access-control-request-method': method,
          'access-control-request-headers': headers,
        },
      });

    const PAYMENT = ', PAYMENT-SIGNATURE, Idempotency-Key, Access-Control-Expose-Headers';
    const OPEN: [name: string, path: () => string, method: string, more?: string][] = [
      ['a result', () => result, 'GET'],
      ['a description', () => '/v1/metadata', 'POST'],
      ['an error', () => '/v1/agents/nobody', 'GET'],
      ['a payment by x402', () => `/v1/x402/agents/${listing}/execute`, 'POST', PAYMENT],
      ['a start, which a wallet may sign', () => `/v1/executions/${newExecutionId()}/start`, 'POST'],
    ];
    for (const [name, path, method, more = ''] of OPEN) {
      it(`allow other origins where no key is needed: ${name}`, async () => {
        const asked = await preflight(path(), method, 'content-type');
        expect([asked.status, asked.text]).to.deep.equal([204, '']);
        expect(asked.headers.get('access-control-allow-origin')).to.equal('*');
        expect(asked.headers.get('access-control-allow-methods')!.split(', ')).to.include(method);
        expect(asked.headers.get('access-control-allow-headers')).to.equal(`Content-Type, If-None-Match${more}`);
        expect(asked.headers.get('access-control-allow-credentials')).to.equal(null);
        expect(asked.headers.get('access-control-max-age')).to.equal('86400');
        if (method !== 'GET') return;
        const { status, headers } = await world.call(path(), { headers: { origin: 'https://a-page.example' } });
        expect(status).to.equal(path().endsWith('nobody') ? 404 : 200);
        expect(headers.get('access-control-allow-origin')).to.equal('*');
        expect(headers.get('access-control-expose-headers')).to.equal(
          'ETag, Location, PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Request-Id',
        );
      });
    }

    it('forbid other origins where a key is needed, because a key spends money', async () => {
      for (const [path, method] of [
        [`/v1/agents/${listing}/execute`, 'POST'],
        ['/v1/executions', 'GET'],
      ] as const) {
        const asked = await preflight(path, method, 'authorization, content-type');
        expect(asked.status).to.equal(204);
        expect(asked.headers.get('allow')!.split(', ')).to.include(method);
        const headers = { origin: 'https://a-page.example', 'content-type': 'application/json' };
        const body = method === 'POST' ? '{"task":"x"}' : null;
        const answer = await world.call(path, { method, headers, key: key.apiKey, body });
        for (const one of [asked, answer])
          for (const [name] of one.headers) expect(name).to.not.match(/^access-control/);
      }
    });
  });
});

/** OAuth for MCP hosts: metadata, registration, and codes under attack. The whole way is in tests/dashboard/connect. */
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { createHttpServer } from '../../../app/relay/http/server.ts';
import { grantAccount } from '../../harness/edge/accounts.ts';
import { type ApiAnswer, startWorld, type World } from '../../harness/edge/api.ts';
import { listen } from '../../harness/edge/listen.ts';
import { EPOCH, type TestKey } from '../../harness/edge/rows.ts';
import { useFolder } from '../../harness/folder.ts';
import { refusal, refusedAs, sessionsOf } from './sessions.ts';

const REDIRECT = 'https://host.example/callback?tenant=1';
const LOOPBACK = 'http://127.0.0.1:4321/callback';
const JSON_TYPE = { 'content-type': 'application/json' };
const VERIFIER = randomBytes(32).toString('base64url');
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

describe('OAuth', () => {
  let world: World;
  const folder = useFolder('page');
  const wallet = Keypair.generate();
  before(async () => {
    // OAuth is offered only with a page, on which people approve.
    writeFileSync(join(folder, 'catalogue.html'), '');
    world = await startWorld({ dashboardFolder: folder });
  });
  afterEach(() => {
    world.state.nowMs = EPOCH * 1000;
  });
  after(() => world.stop());
  const { anonymous, signIn } = sessionsOf(() => world);

  const register = (body: object) => world.post('/oauth/register', body);
  async function newClient(redirectUris = [REDIRECT], name = 'Test host'): Promise<string> {
    const { status, json } = await register({ client_name: name, redirect_uris: redirectUris });
    expect(status).to.equal(201);
    return json.client_id;
  }

  async function newKey(): Promise<TestKey> {
    const key = await world.addKey({ wallet: wallet.publicKey.toBase58() });
    world.state.grants.set(`${key.wallet}:${key.keyId}`, grantAccount(key));
    return key;
  }

  const queryOf = (clientId: string, changes: Record<string, string> = {}) =>
    new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: REDIRECT,
      code_challenge: challengeOf(VERIFIER),
      code_challenge_method: 'S256',
      resource: `${world.url}/mcp`,
      state: '12345e67',
      ...changes,
    }).toString();

  /** A code for a new key of the wallet. */
  async function approve(clientId: string, changes: Record<string, string> = {}) {
    const key = await newKey();
    const input = { query: queryOf(clientId, changes), api_key: key.apiKey };
    const { approved_url } = await (await signIn(wallet)).call('oauth.approve', input);
    return { key, url: new URL(approved_url), code: new URL(approved_url).searchParams.get('code')! };
  }

  function exchange(code: string, clientId: string, changes: Record<string, string> = {}) {
    const form = {
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      redirect_uri: REDIRECT,
      code_verifier: VERIFIER,
      resource: `${world.url}/mcp`,
      ...changes,
    };
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return world.post('/oauth/token', new URLSearchParams(form).toString(), { headers });
  }
  async function refuse(answer: Promise<ApiAnswer>, error = 'invalid_grant') {
    const { status, json, text } = await answer;
    expect([status, json.error], text).to.deep.equal([400, error]);
    expect(text).to.not.include('crtx_');
  }

  it('describes resource and server where a refused host looks for them, under the address that it used', async () => {
    const refused = await world.post('/mcp?pay_by=key', { jsonrpc: '2.0', id: 1, method: 'ping' });
    expect(refused.status).to.equal(401);
    const [, metadata] = /^Bearer resource_metadata="([^"]+)"$/.exec(refused.headers.get('www-authenticate')!)!;
    expect(metadata).to.equal(`${world.url}/.well-known/oauth-protected-resource/mcp?pay_by=key`);
    const resource = await (await fetch(metadata!)).json();
    expect(resource).to.deep.include({
      resource: `${world.url}/mcp?pay_by=key`,
      authorization_servers: [world.url],
      scopes_supported: ['execute', 'read'],
    });
    expect((await world.get('/.well-known/oauth-protected-resource')).json.resource).to.equal(`${world.url}/mcp`);
    const server = await world.get('/.well-known/oauth-authorization-server');
    expect(server.json).to.include({ issuer: world.url, authorization_response_iss_parameter_supported: true });
    expect(server.json.code_challenge_methods_supported).to.deep.equal(['S256']);
    const here = `http://localhost:${world.port}`;
    const byName = await fetch(`${here}/.well-known/oauth-authorization-server`);
    expect(await byName.json()).to.include({ issuer: here, token_endpoint: `${here}/oauth/token` });
    const invalid = await world.post('/mcp', {}, { key: 'crtx_test_unknown' });
    expect(invalid.headers.get('www-authenticate')).to.match(/^Bearer error="invalid_token", resource_metadata="/);
    // Other routes have no such way.
    expect((await world.get('/v1/key')).headers.get('www-authenticate')).to.equal('Bearer');
  });

  it('is offered only with a page, and over https or on this computer', async () => {
    const insecure = { dashboardFolder: folder, baseUrl: () => 'http://a.example' };
    for (const settings of [{ dashboardFolder: null }, insecure]) {
      const other = createHttpServer({ ...world.deps, ...settings });
      const url = await listen(other);
      const post = (path: string, body: object) =>
        fetch(url + path, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) });
      const refused = await post('/mcp', {});
      expect([refused.status, refused.headers.get('www-authenticate')]).to.deep.equal([401, 'Bearer']);
      expect((await fetch(`${url}/.well-known/oauth-authorization-server`)).status).to.equal(404);
      expect((await post('/oauth/register', { redirect_uris: [REDIRECT] })).status).to.equal(404);
      other.closeAllConnections();
      other.close();
    }
  });

  it('registers only redirect URIs over https or to this computer, and leaves others out', async () => {
    const allowed = [REDIRECT, LOOPBACK, 'http://localhost/cb', 'http://[::1]:1/cb', 'https://[2001:db8::1]:8443/'];
    const { status, json } = await register({
      client_name: 'Claude\u202e\n  Desktop',
      redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback', ...allowed],
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['authorization_code', 'refresh_token'],
      logo_uri: null,
    });
    expect(status).to.equal(201);
    expect(json).to.deep.include({
      client_name: 'Claude Desktop',
      redirect_uris: allowed,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
    });
    expect(json).to.not.have.property('client_secret');
    for (const uri of [
      'http://host.example/callback',
      'http://127.0.0.1.host.example/',
      'https://host.example/#part',
      'https://claude.ai@host.example/',
      'https://host.example/\u0430',
      'javascript:alert(1)//',
      'host://callback',
      '/callback',
      `https://host.example/${'a'.repeat(500)}`,
    ]) {
      await refuse(register({ redirect_uris: [uri] }), 'invalid_redirect_uri');
    }
    await refuse(register({ redirect_uris: 'all' }), 'invalid_client_metadata');
    await refuse(register({}), 'invalid_client_metadata');
  });

  it('shows who asks, and sends nobody to an address that is not registered', async () => {
    const clientId = await newClient();
    const ask = (query: string) => anonymous().call('oauth.request', { query });
    const { refused_url, ...shown } = await ask(queryOf(clientId));
    expect(shown).to.deep.equal({ name: 'Test host', redirect_host: 'host.example', is_loopback: false });
    // State and the query of the redirect URI come back as they were.
    const back = new URLSearchParams({ error: 'access_denied', state: '12345e67', iss: world.url });
    expect(refused_url).to.equal(`${REDIRECT}&${back}`);
    const forged = (name: string, uris: string[]) => Buffer.from(JSON.stringify([name, uris])).toString('base64url');
    const http = 'http://evil.example/';
    for (const [query, path] of [
      [queryOf(clientId, { redirect_uri: 'https://evil.example/callback' }), 'redirect_uri'],
      [queryOf(clientId, { redirect_uri: REDIRECT.replace('host.', 'HOST.') }), 'redirect_uri'],
      [queryOf(clientId, { redirect_uri: '' }), 'redirect_uri'],
      [`${queryOf(clientId)}&redirect_uri=${encodeURIComponent(REDIRECT)}`, 'redirect_uri'],
      [queryOf('unknown'), 'client_id'],
      [queryOf(forged('Evil', [http]), { redirect_uri: http }), 'client_id'],
      [queryOf(forged('Claude\u202e', [REDIRECT])), 'client_id'],
      [queryOf(`${clientId}=`), 'client_id'],
      [queryOf(clientId, { code_challenge_method: 'plain' }), 'code_challenge_method'],
      [queryOf(clientId, { code_challenge: '' }), 'code_challenge'],
      [queryOf(clientId, { response_type: 'token' }), 'response_type'],
      [queryOf(clientId, { resource: 'https://other.example/mcp' }), 'resource'],
      [queryOf(clientId, { resource: `${world.url}/v1` }), 'resource'],
    ] as const) {
      const { code, details } = await refusal(ask(query));
      const { issues } = details as { issues: { path: string }[] };
      expect([code, issues[0]!.path], query).to.deep.equal(['invalid_request', path]);
    }
  });

  it('gives the host exactly the API key, which /mcp accepts until it is revoked', async () => {
    const clientId = await newClient();
    const { key, url, code } = await approve(clientId);
    expect(url.href).to.match(/^https:\/\/host\.example\/callback\?tenant=1&code=[\w-]{43}&state=12345e67&iss=/);
    expect(url.searchParams.get('iss')).to.equal(world.url);
    // Nothing that is stored is a key or a code.
    const stored = await world.ledger.selectFrom('authorization_codes').selectAll().execute();
    const readable = stored.map((row) => JSON.stringify({ ...row, key_expires_ms: 0, expires_ms: 0 })).join();
    for (const secret of [key.apiKey, code]) {
      expect(readable).to.not.include(secret);
      expect(stored[0]!.sealed_key.includes(secret)).to.equal(false);
    }
    const { status, json, headers } = await exchange(code, clientId);
    expect(status).to.equal(200);
    const token = { access_token: key.apiKey, token_type: 'Bearer', expires_in: 1_000, scope: 'execute read' };
    expect(json).to.deep.equal(token);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(await world.ledger.selectFrom('authorization_codes').selectAll().execute()).to.deep.equal([]);
    const ping = () => world.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, { key: json.access_token });
    expect((await ping()).status).to.equal(200);
    await (await signIn(wallet)).call('keys.revoke', { key_id: key.keyId });
    const metadata = `${world.url}/.well-known/oauth-protected-resource/mcp`;
    const refused = await ping();
    expect(refused.status).to.equal(401);
    const reason = `Bearer error="invalid_token", resource_metadata="${metadata}"`;
    expect(refused.headers.get('www-authenticate')).to.equal(reason);
  });

  describe('refuses', () => {
    it('a code that was used, tried in vain, or replaced by another of its key', async () => {
      const clientId = await newClient();
      const { code } = await approve(clientId);
      const answers = await Promise.all([1, 2, 3].map(() => exchange(code, clientId)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 400, 400]);
      await refuse(exchange(code, clientId));
      const second = await approve(clientId);
      await refuse(exchange(second.code, clientId, { code_verifier: randomBytes(32).toString('base64url') }));
      await refuse(exchange(second.code, clientId));
      // Each key has one code.
      const { key, code: first } = await approve(clientId);
      const again = { query: queryOf(clientId), api_key: key.apiKey };
      const { approved_url } = await (await signIn(wallet)).call('oauth.approve', again);
      await refuse(exchange(first, clientId));
      expect((await exchange(new URL(approved_url).searchParams.get('code')!, clientId)).status).to.equal(200);
    });

    it("another client's code, a changed redirect URI, and another resource", async () => {
      const clientId = await newClient([REDIRECT, LOOPBACK]);
      const thief = await newClient([REDIRECT, LOOPBACK], 'Another host');
      for (const [client, changes, error] of [
        [thief, {}],
        [clientId, { redirect_uri: LOOPBACK }],
        [clientId, { resource: 'https://other.example/mcp' }],
        ['unknown', {}, 'invalid_client'],
        [clientId, { code_verifier: '' }, 'invalid_request'],
        [clientId, { grant_type: 'password' }, 'unsupported_grant_type'],
      ] as [string, Record<string, string>, string?][])
        await refuse(exchange((await approve(clientId)).code, client, changes), error);
      const own = await approve(clientId);
      expect((await exchange(own.code, clientId, { resource: '' })).status).to.equal(200);
    });

    it('an expired code, and the code of a key that was revoked meanwhile', async () => {
      const clientId = await newClient();
      const late = await approve(clientId);
      world.state.nowMs += 5 * 60_000;
      await refuse(exchange(late.code, clientId));
      world.state.nowMs = EPOCH * 1000;
      const { code, key } = await approve(clientId);
      await (await signIn(wallet)).call('keys.revoke', { key_id: key.keyId });
      await refuse(exchange(code, clientId));
    });

    it('to approve without a session, or with a key that is not valid or of another wallet', async () => {
      const query = queryOf(await newClient());
      const key = await newKey();
      const session = await signIn(wallet);
      const input = { query, api_key: key.apiKey };
      const approveBy = (client: typeof session, apiKey = key.apiKey) =>
        refusedAs(client.call('oauth.approve', { query, api_key: apiKey }));
      const refused = '400 invalid_request';
      expect(await refusedAs(anonymous().call('oauth.approve', input))).to.equal('401 unauthorized');
      expect(await approveBy(await signIn(Keypair.generate()))).to.equal(refused);
      expect(await approveBy(session, 'crtx_test_unknown')).to.equal(refused);
      world.state.grants.set(`${key.wallet}:${key.keyId}`, grantAccount(key, { revoked: true }));
      expect(await approveBy(session)).to.equal(refused);
    });
  });

  it('lets a program on this computer listen at another port, and no other path or host', async () => {
    const clientId = await newClient([LOOPBACK]);
    const moved = LOOPBACK.replace('4321', '5432');
    const { code } = await approve(clientId, { redirect_uri: moved });
    expect((await exchange(code, clientId, { redirect_uri: moved })).status).to.equal(200);
    for (const uri of [`${LOOPBACK}/more`, LOOPBACK.replace('127.0.0.1', 'localhost')]) {
      const call = anonymous().call('oauth.request', { query: queryOf(clientId, { redirect_uri: uri }) });
      expect(await refusedAs(call)).to.equal('400 invalid_request');
    }
  });
});

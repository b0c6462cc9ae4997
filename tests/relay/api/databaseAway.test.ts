/**
 * Every route and procedure while PostgreSQL is stopped. Those that need it answer 503 with Retry-After in the usual
 * format.
 */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { registerClient } from '../../../app/relay/access/oauth/clients.ts';
import { ROUTE_IDS, routeOf } from '../../../app/relay/http/routes/table.ts';
import { createApiKey, hashApiKey } from '../../../app/sdk/receipt/apiKey.ts';
import type { ProcedureEntry } from '../../../app/sdk/wire/fields.ts';
import { PROCEDURES } from '../../../app/sdk/wire/procedures.ts';
import { ErrorBody, Ready } from '../../../app/sdk/wire/wire.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { onPostgres, sharedPostgres } from '../../harness/postgres.ts';
import { sessionsOf } from './sessions.ts';

/** These depend only on the release or the process, and need no table. */
const WITHOUT_DATABASE = [
  '/',
  '/health',
  '/openapi.json',
  '/docs',
  '/llms.txt',
  '/examples/{name}',
  '/idl.json',
  '/.well-known/agent-card.json',
  '/.well-known/http-message-signatures-directory',
];
/**
 * Settings of the chain, a message whose secret was read before, signing out without a session, and what a host asks
 * for, which is in its address.
 */
const PROCEDURES_WITHOUT_DATABASE = ['config.get', 'config.changes', 'auth.challenge', 'auth.signOut', 'oauth.request'];

// A SQLite file is unavailable only with its disk.
if (onPostgres) {
  describe('the API while the database is unavailable', () => {
    let token = '';
    let apiKey = '';
    let agent = '';
    /** Inputs of the public procedures. */
    let inputs: Record<string, object>;
    const world = useWorld();
    before(async () => {
      agent = await world.addListing();
      apiKey = (await world.addKey()).apiKey;
      const { answerOf, signIn } = sessionsOf(() => world);
      const owner = Keypair.generate();
      token = (await signIn(owner)).token;
      const signed = await answerOf(owner);
      const { wallet } = signed;
      const redirect_uri = 'https://host.example/callback';
      const { id: client_id } = registerClient({ redirect_uris: [redirect_uri] });
      const asked = { response_type: 'code', client_id, redirect_uri, code_challenge: 'c'.repeat(43) };
      const rest = { code_challenge_method: 'S256', resource: `${world.url}/mcp` };
      const query = String(new URLSearchParams({ ...asked, ...rest }));
      inputs = {
        'auth.challenge': { wallet },
        'auth.verify': signed,
        'auth.signIn': signed,
        'keys.register': { wallet, key_hash: hashApiKey(createApiKey('test')), name: 'test' },
        'agents.example': { agent_id: agent },
        'oauth.request': { query },
      };
      await (await sharedPostgres()).stop();
    });
    after(async () => {
      await (await sharedPostgres()).start();
      // The pools replace lost connections at the next request.
      expect((await world.get(`/v1/agents/${agent}`)).status).to.equal(200);
      expect((await world.get('/v1/executions', apiKey)).status).to.equal(200);
    });

    function send(path: string, method: string, body: unknown, bearer: string | null) {
      const headers: Record<string, string> = path.startsWith('/trpc/auth.sign') ? { origin: world.url } : {};
      if (body !== undefined) headers['content-type'] = 'application/json';
      const sent = body === undefined ? null : JSON.stringify(body);
      return world.call(path, { method, headers, body: sent, ...(bearer !== null && { key: bearer }) });
    }

    for (const id of ROUTE_IDS) {
      const route = routeOf(id);
      const path = Object.entries(route.params ?? {}).reduce(
        (text, [name, { example }]) => text.replace(`{${name}}`, example),
        route.path as string,
      );
      // This service has no fee payer.
      const hasNone = ['/v1/x402/agents/{agent_id}/execute', '/.well-known/x402'].includes(route.path);
      const expected = hasNone ? 404 : WITHOUT_DATABASE.includes(route.path) ? 200 : 503;
      it(`answers ${route.method.toUpperCase()} ${route.path} with ${expected}`, async () => {
        const bearer = route.access === 'public' ? null : apiKey;
        const { status, headers, json } = await send(path, route.method.toUpperCase(), route.body?.example, bearer);
        expect(status, JSON.stringify(json)).to.equal(expected);
        if (expected !== 503) return;
        expect(headers.get('cache-control')).to.equal('no-store');
        expect(Number(headers.get('retry-after'))).to.be.at.least(1);
        if (route.path === '/ready') {
          const advice = [
            'The index cannot be read; the log says why. If the database is down, bring it back: nothing is lost.',
          ];
          expect(Ready.parse(json)).to.deep.include({ status: 'not_ready', problems: ['index_behind'], advice });
          return;
        }
        const { error } = ErrorBody.parse(json);
        expect(error).to.deep.include({ code: 'service_unavailable', execution_id: null, details: null });
      });
    }

    it('answers an unknown key like a valid one', async () => {
      const { status } = await send('/v1/executions', 'GET', undefined, createApiKey('test'));
      expect(status).to.equal(503);
    });

    for (const [name, { kind, access }] of Object.entries(PROCEDURES) as [string, ProcedureEntry][]) {
      it(`answers ${name} ${PROCEDURES_WITHOUT_DATABASE.includes(name) ? 'as usual' : 'with 503'}`, async () => {
        const input = inputs[name];
        const isQuery = kind === 'query';
        const query = isQuery && input ? `?input=${encodeURIComponent(JSON.stringify(input))}` : '';
        // auth.session needs the token; other public procedures are called without it.
        const bearer = access === 'public' && name !== 'auth.session' ? null : token;
        const sent = isQuery ? undefined : (input ?? {});
        const answer = await send(`/trpc/${name}${query}`, isQuery ? 'GET' : 'POST', sent, bearer);
        const { outcome, headers, text } = answer;
        const isUsual = PROCEDURES_WITHOUT_DATABASE.includes(name);
        expect(outcome, text).to.equal(isUsual ? '200' : '503 service_unavailable');
        if (!isUsual) expect(Number(headers.get('retry-after'))).to.be.at.least(1);
      });
    }
  });
}

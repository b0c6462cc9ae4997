/** The client's time limits, and its idempotency key, with a function in place of `fetch`. */
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createMarket } from '../../app/mcp/market.ts';
import { AgentMarketplace, PermissionDeniedError } from '../../app/sdk/client/caller.ts';
import { createClient } from '../../app/sdk/client/client.ts';
import { followExecution } from '../../app/sdk/client/events.ts';
import { anyOf } from '../../app/sdk/client/limit.ts';
import { PATIENCE } from '../../app/sdk/client/repeat.ts';
import { listen } from '../harness/edge/listen.ts';

const BASE = { baseUrl: 'http://marketplace.example', apiKey: 'crtx_test_1' };
const REFUSAL = { error: { code: 'address_not_allowed', message: 'not from here', execution_id: null, details: null } };

const refusal = <Thrown>(call: Promise<unknown>): Promise<Thrown> =>
  call.then(
    () => expect.fail('expected a refusal'),
    (error: Thrown) => error,
  );

/** A fetch that gives these answers one after another, then the last one. Records the idempotency keys. */
function answering(...answers: (() => Response | Promise<Response>)[]) {
  const keys: (string | null)[] = [];
  const send = async (_: unknown, init: RequestInit = {}) => {
    keys.push(new Headers(init.headers).get('idempotency-key'));
    return answers[Math.min(keys.length, answers.length) - 1]!();
  };
  return { keys, fetch: send as typeof fetch };
}

const lose = (): never => {
  throw new TypeError('the connection broke');
};

describe('client', () => {
  it('refuses an address with a password in an MCP server too', () => {
    const make = () => createMarket({ baseUrl: 'https://me:word@m.example', apiKey: null, rpcUrl: null });
    expect(make).to.throw(TypeError, /^baseUrl must have no user name, password, [^:]*$/);
  });

  it('takes null for a key as none', async () => {
    const { keys, fetch } = answering(() => new Response('?'));
    await refusal(new AgentMarketplace({ ...BASE, fetch }).agents.run('a', { task: 'x' }, { idempotencyKey: null }));
    expect(keys[0]).to.have.length.greaterThan(15);
  });

  it('throws the last answer of a read, which pays nothing', async () => {
    const refuse = () => Response.json(REFUSAL, { status: 403 });
    const read = createClient({ ...BASE, fetch: answering(lose, refuse).fetch }).request('getAgent', { agent_id: 'a' });
    expect(await refusal(read)).to.be.instanceOf(PermissionDeniedError);
  });

  it('retries the opening of an event stream as the options say, even if the client retries nothing', async () => {
    const event = { id: 'evt_1', type: 'execution.completed', data: {} };
    const busy = () => new Response('', { status: 503 });
    const stream = () =>
      new Response(`id: evt_1\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      });
    const { keys, fetch } = answering(lose, busy, stream);
    const client = createClient({ ...BASE, fetch, maxRetries: 0 });
    const followed: unknown[] = [];
    for await (const one of followExecution(client, 'e', { patience: PATIENCE })) followed.push(one);
    expect(followed).to.deep.equal([event]);
    expect(keys).to.have.length(3);
  });

  it('takes tags as a list, as text and as nothing', async () => {
    const asked: string[] = [];
    const fetch = async (url: unknown) => {
      asked.push(new URL(String(url)).search);
      return Response.json({ agents: [], total: 0, limit: 1, offset: 0 });
    };
    const { agents } = new AgentMarketplace({ ...BASE, fetch });
    for (const tags of [['a', 'b'], 'a,b', [], null, undefined]) await agents.list({ tags: tags as string[] }).page();
    const all = '?limit=100&offset=0';
    expect(asked).to.deep.equal([`?tags=a%2Cb&${all.slice(1)}`, `?tags=a%2Cb&${all.slice(1)}`, all, all, all]);
  });

  it('says why no answer came', async () => {
    const cause = (code: string, message: string, more = {}) => Object.assign(new Error(message), { code, ...more });
    const refused = cause('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1');
    for (const [failure, told] of [
      [refused, refused.message],
      [cause('ECONNREFUSED', '', { errors: [refused, refused] }), refused.message],
      [cause('ENOTFOUND', 'getaddrinfo ENOTFOUND m.example'), 'getaddrinfo ENOTFOUND m.example'],
      [cause('ERR_SSL_X', '80:error:\n', { reason: 'wrong version' }), 'wrong version (ERR_SSL_X)'],
      [cause('UND_ERR_SOCKET', `closed by https://me:word@m.example`), 'closed by https://m.example (UND_ERR_SOCKET)'],
    ] as const) {
      const fetch = async () => {
        throw new TypeError('fetch failed', { cause: failure });
      };
      const error = await refusal<Error>(createClient({ ...BASE, fetch, maxRetries: 0 }).request('listAgents'));
      expect(error.message).to.equal(`No answer from ${BASE.baseUrl}: fetch failed: ${told}`);
      expect(inspect(error)).to.not.include('word@');
    }
  });

  it('waits without limit for an answer and for events if its timeout is infinite', async () => {
    const later = async () => {
      await delay(100);
      return Response.json({ execution_id: 'e', status: 'running' });
    };
    const timeout = Number.POSITIVE_INFINITY;
    const { keys, fetch } = answering(later);
    const started = await new AgentMarketplace({ ...BASE, fetch, timeout }).executions.create('a', { task: 'x' });
    expect(started.status).to.equal('running');
    expect(keys).to.have.length(1);

    const event = { id: 'evt_1', type: 'execution.completed', data: {} };
    const events = answering(() => {
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          await delay(100);
          controller.enqueue(new TextEncoder().encode(`id: evt_1\nevent: x\ndata: ${JSON.stringify(event)}\n\n`));
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    const followed = new AgentMarketplace({ ...BASE, fetch: events.fetch, timeout }).executions.events('e');
    expect((await followed.next()).value).to.deep.equal(event);
    await followed.return();
    expect(events.keys).to.have.length(1);
  });

  it('keeps the time limit of a request that a signal may end too, when memory is collected', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const server = createServer(() => {});
    const url = await listen(server);
    const leaving = new AbortController();
    const sent = fetch(url, { signal: anyOf(leaving.signal, AbortSignal.timeout(500)) });
    const collecting = setInterval(collect, 20);
    const forced = setTimeout(() => leaving.abort(new Error('the limit was lost')), 5_000);
    try {
      expect((await refusal<Error>(sent)).name).to.equal('TimeoutError');
    } finally {
      clearInterval(collecting);
      clearTimeout(forced);
      server.closeAllConnections();
      server.close();
    }
  });
});

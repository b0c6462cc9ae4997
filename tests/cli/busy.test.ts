/**
 * A service that is busy or breaks the connection: a real relay behind a server that refuses the first request for each
 * address. The command repeats and reports only requests that are safe to repeat.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { MarketplaceError } from '../../app/sdk/client/error.ts';
import { repeat } from '../../app/sdk/client/repeat.ts';
import { generateSigningKey, saveSigningKey } from '../../app/sdk/creator/creator.ts';
import { goodAnswer, startMarketplace, type TestMarketplace } from '../harness/node/marketplace.ts';
import { createTerminal, runHere } from './run.ts';

type TurnAway = (request: IncomingMessage, response: ServerResponse) => void;

const busy =
  (retryAfter: number): TurnAway =>
  (request, response) => {
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': String(retryAfter) });
    const error = { code: 'service_unavailable', message: 'Too much to do', execution_id: null, details: null };
    const data = { httpStatus: 503, code: 'service_unavailable' };
    const isProcedure = request.url?.startsWith('/trpc');
    response.end(JSON.stringify({ error: isProcedure ? { message: 'Too much to do', code: -32_000, data } : error }));
  };
const breakOff: TurnAway = (request) => void request.socket.resetAndDestroy();
const BUSY_LINE = 'The marketplace does not answer: Too much to do. Retrying in 1 s ...\n';

describe('the command line at a busy service', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  let terminal: ReturnType<typeof createTerminal>;
  let front: Server;
  let service: string[];
  /** Number of requests for each address since `turnAway` was set. */
  let asked: Map<string, number>;
  let turnAway: { how: TurnAway; always?: RegExp };

  const set = (how: TurnAway, always?: RegExp) => {
    asked = new Map();
    turnAway = { how, ...(always && { always }) };
  };
  const timesAsked = (what: RegExp) => [...asked].find(([path]) => what.test(path))?.[1];

  before(async () => {
    market = await startMarketplace();
    terminal = createTerminal(market.node.rpcUrl);
    front = createServer(async (request, response) => {
      const path = request.url ?? '';
      asked.set(path, (asked.get(path) ?? 0) + 1);
      if (asked.get(path) === 1 || turnAway.always?.test(path)) return turnAway.how(request, response);
      const { host, connection, ...headers } = request.headers as Record<string, string>;
      const hasBody = request.method === 'POST';
      const body = hasBody ? Readable.toWeb(request) : null;
      const init = { method: request.method, headers, body, ...(hasBody && { duplex: 'half' }) } as RequestInit;
      const answer = await fetch(market.relay.url + path, init);
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    service = ['--base-url', `http://127.0.0.1:${(front.address() as AddressInfo).port}`];
  });
  after(async () => {
    front.close();
    front.closeAllConnections();
    terminal.close();
    await market.stop();
  });

  it('retries after the time that the service names, and reports it on stderr only', async () => {
    set(busy(1));
    const { code, stdout, stderr } = await runHere(['agents', 'show', market.agentId, ...service, '--json']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: BUSY_LINE });
    expect(JSON.parse(stdout).agent_id).to.equal(market.agentId);
  });

  it('creates, lists and revokes a key through a service that refuses every first request', async () => {
    const { wallet } = market.callers[0]!;
    set(busy(0));
    const { key_id } = await terminal.done(wallet, 'keys', 'create', '--name', 'patient', ...service);
    expect(timesAsked(/keys\.register/)).to.equal(2);
    set(busy(0));
    const keys: { key_id: string }[] = await terminal.done(wallet, 'keys', 'list', ...service);
    expect(keys.map((key) => key.key_id)).to.include(key_id);
    set(busy(0));
    expect(await terminal.done(wallet, 'keys', 'revoke', key_id, ...service)).to.include({ revoked: true });
  });

  it('retries when the connection breaks', async () => {
    set(breakOff);
    const { code, stderr } = await runHere(['agents', 'list', ...service]);
    expect(code).to.equal(0);
    expect(stderr).to.equal('The marketplace does not answer: the connection was lost. Retrying in 1 s ...\n');
  });

  it('lists an agent, and tests its endpoint once without a retry', async () => {
    const signingKey = generateSigningKey();
    saveSigningKey(terminal.path('signing.json'), signingKey);
    market.setBehaviour(({ execution_id, task }, _, reply) => reply(goodAnswer(signingKey, execution_id, task)));
    const description = {
      name: 'patient',
      tagline: 'Waits.',
      description: 'Waits for its turn.',
      display_name: 'Ada',
      tags: ['data'],
      price_usdc: '0.25',
      timeout_seconds: 30,
      input_schema: { type: 'object', properties: {} },
      output_schema: { type: 'string' },
      endpoint: market.endpoint,
      signing_key: 'signing.json',
    };
    const create = ['listing', 'create', terminal.file('agent.json', JSON.stringify(description)), ...service];
    set(busy(0));
    expect(await terminal.refused(market.creator, ...create)).to.include('Too much to do (service_unavailable)');
    expect([timesAsked(/v1\/metadata/), timesAsked(/listings\.test/)]).to.deep.equal([2, 1]);
    // This address was refused once already, so it is let through now.
    expect((await terminal.done(market.creator, ...create)).creator).to.equal(market.creator.publicKey.toBase58());
  });

  it('gives up at once when the wait is longer than a minute', async () => {
    set(busy(61), /agents/);
    const { code, stdout, stderr } = await runHere(['agents', 'list', ...service]);
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: 'Too much to do (service_unavailable)\n',
    });
    expect(timesAsked(/agents/)).to.equal(1);
  });

  it('does not retry after its time limit', async () => {
    const request = async () => {
      throw new MarketplaceError(503, 'service_unavailable', 'busy', null, null);
    };
    const pauses: number[] = [];
    const onRepeat = (_: unknown, pauseMs: number) => void pauses.push(pauseMs);
    const patience = { repeats: Number.POSITIVE_INFINITY, totalMs: 3_000, onRepeat };
    const error = await repeat(request, patience).catch((reason) => reason);
    expect(error).to.be.instanceOf(MarketplaceError);
    // Each pause is about twice the one before, and all fit into the time limit. A busy computer fits fewer.
    for (const [count, pauseMs] of pauses.entries()) expect(pauseMs).to.be.closeTo(250 * 2 ** count, 62.5 * 2 ** count);
    expect(pauses).to.have.length.greaterThan(0);
  });

  it('does not repeat a request that was answered', async () => {
    set(breakOff);
    asked.set('/v1/agents/11111111111111111111111111111111', 1);
    const { code, stderr } = await runHere(['agents', 'show', '11111111111111111111111111111111', ...service]);
    expect(code).to.equal(1);
    expect(stderr).to.include('(agent_not_found)');
    expect(timesAsked(/v1\/agents/)).to.equal(2);
  });
});

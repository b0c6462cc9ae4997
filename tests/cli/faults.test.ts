/**
 * A service that is busy or breaks the connection: a real relay behind a server that refuses the first request for each
 * address. The command repeats and reports only requests that are safe to repeat. And a node that misbehaves: a real one
 * behind a server that breaks `sendTransaction`. The command reports a transaction as failed only if that is certain,
 * otherwise as unknown.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import bs58 from 'bs58';
import { expect } from 'chai';
import { MarketplaceError } from '../../app/sdk/client/error.ts';
import { repeat } from '../../app/sdk/client/repeat.ts';
import { generateSigningKey, saveSigningKey } from '../../app/sdk/creator/creator.ts';
import { decodeAccount, findGrant } from '../../app/sdk/program/program.ts';
import { keyIdOf } from '../../app/sdk/receipt/apiKey.ts';
import { useServers } from '../harness/edge/listen.ts';
import { goodAnswer, type TestMarketplace, useMarketplace } from '../harness/node/marketplace.ts';
import { startRpcProxy } from '../harness/node/rpcProxy.ts';
import { AGENT_FILE, cli, type Run, runHere, useTerminal } from './run.ts';

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

/**
 * `silent`: accepts the transaction and never answers again. `lossy`: claims to accept the transaction and drops it.
 */
type Fault = 'silent' | 'lossy';

/** A signed transaction begins with the number of signatures, one byte, and its first signature. */
const signatureOf = (base64: string): string => bs58.encode(Buffer.from(base64, 'base64').subarray(1, 65));

async function startBadNode(node: TestMarketplace['node'], fault: Fault) {
  const sent: string[] = [];
  const { rpcUrl, onCall, close } = await startRpcProxy(node);
  onCall(async ({ method, params }, forward) => {
    if (fault === 'silent' && sent.length > 0) return 'cut';
    if (method !== 'sendTransaction') return null;
    const signature = signatureOf(params[0] as string);
    sent.push(signature);
    if (fault === 'lossy') return { json: { jsonrpc: '2.0', id: '1', result: signature } };
    await forward();
    return 'cut';
  });
  return { url: rpcUrl, sent, close };
}

describe('the command line at a service or node with faults', function () {
  this.timeout(600_000);
  const market = useMarketplace();
  const terminal = useTerminal(() => market.node.rpcUrl);
  const serve = useServers();
  let service: string[];
  /** Number of requests for each address since `turnAway` was set. */
  let asked: Map<string, number>;
  let turnAway: { how: TurnAway; always?: RegExp };

  /** Nodes with faults, and a command at each. */
  let nodes: Awaited<ReturnType<typeof startBadNode>>[];
  let runs: Promise<Run>[];
  let earlier: bigint[];

  const held = (index: number) => market.amountOf(market.callers[index]!.usdc);
  const set = (how: TurnAway, always?: RegExp) => {
    asked = new Map();
    turnAway = { how, ...(always && { always }) };
  };
  const timesAsked = (what: RegExp) => [...asked].find(([path]) => what.test(path))?.[1];

  before(async () => {
    const front = await serve(async (request, response) => {
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
    service = ['--base-url', front];
    const faults: Fault[] = ['silent', 'lossy', 'silent'];
    nodes = await Promise.all(faults.map((fault) => startBadNode(market.node, fault)));
    earlier = [await held(0), await held(1)];
    const open = ['execution', 'open', market.agentId, '--task', 'x'];
    const commands = [open, open, ['keys', 'create', '--name', 'lost', '--base-url', market.relay.url]];
    // In parallel, because each runs until the command's long timeout.
    runs = commands.map((words, index) => {
      const { secretKey } = market.callers[index % 2]!.wallet;
      const keypair = terminal.file(`wallet-${index}.json`, JSON.stringify([...secretKey]));
      return cli([...words, '--rpc-url', nodes[index]!.url, '--keypair', keypair, '--json']);
    });
  });
  after(() => Promise.all(nodes.map((node) => node.close())));

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
    const description = JSON.stringify({ ...AGENT_FILE, name: 'patient', endpoint: market.endpoint });
    const create = ['listing', 'create', terminal.file('agent.json', description), ...service];
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

  it('reports an unknown outcome with the signature when the node stops answering after the send', async () => {
    const { code, stdout, stderr } = await runs[0]!;
    expect({ code, stdout }).to.deep.equal({ code: 3, stdout: '' });
    expect(nodes[0]!.sent).to.have.length(1);
    expect(stderr).to.include(`The outcome is unknown: the transaction ${nodes[0]!.sent[0]} was sent`);
    // The execution was opened, so reporting a failure would be false. Its id was printed before.
    expect(await held(0)).to.equal(earlier[0]! - 250_000n);
    const [id] = /[0-9a-f-]{36}/.exec(stderr) ?? [];
    expect(await terminal.look('execution', 'show', String(id))).to.include({ status: 'open', escrow_usdc: '0.25' });
  });

  it('reports that two transactions in a row never landed once both have expired', async () => {
    const { code, stdout, stderr } = await runs[1]!;
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    const [first, second, ...more] = nodes[1]!.sent;
    expect(more).to.deep.equal([]);
    const lost = (signature?: string) =>
      `The transaction ${signature} did not land within the 30 s for which it is valid.`;
    expect(stderr).to.include(`${lost(first)} Signing a new one ...`);
    expect(stderr).to.include(`${lost(second)} Nothing has changed on the chain. Try again.`);
    expect(await held(1)).to.equal(earlier[1]);
  });

  it('prints a key that may already be able to spend', async () => {
    const { code, stdout, stderr } = await runs[2]!;
    expect(code).to.equal(3);
    expect(stderr).to.include(`The outcome is unknown: the transaction ${nodes[2]!.sent[0]} was sent`);
    const { api_key } = JSON.parse(stdout);
    const grant = findGrant(market.callers[0]!.wallet.publicKey, keyIdOf(api_key));
    const account = await market.node.connection.getAccountInfo(grant);
    expect(decodeAccount('KeyGrant', account?.data as Buffer).revoked).to.equal(false);
  });

  it('asks the user to name a node when no service names one', async () => {
    const { code, stderr } = await runHere(['admin', 'config', '--base-url', 'http://127.0.0.1:1']);
    expect(code).to.equal(1);
    expect(stderr).to.include('No server answers at http://127.0.0.1:1.').and.include('Give its URL with --rpc-url.');
  });
});

/**
 * A service that is busy or breaks the connection: a real relay behind a server that refuses the first request for each
 * address. The command repeats and reports only requests that are safe to repeat. And a real node behind a server that
 * stops answering after it took a transaction, whose outcome is then unknown. signer.ts has transactions that expire.
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
import { installsTemplates } from './templates.ts';

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

/** A signed transaction begins with the number of signatures, one byte, and its first signature. */
const signatureOf = (base64: string): string => bs58.encode(Buffer.from(base64, 'base64').subarray(1, 65));

/** A node that accepts one transaction and never answers again. */
async function startSilentNode(node: TestMarketplace['node']) {
  const sent: string[] = [];
  const { rpcUrl, onCall, close } = await startRpcProxy(node);
  onCall(async ({ method, params }, forward) => {
    if (sent.length > 0) return 'cut';
    if (method !== 'sendTransaction') return null;
    sent.push(signatureOf(params[0] as string));
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

  /** Silent nodes, and a command at each. */
  let nodes: Awaited<ReturnType<typeof startSilentNode>>[];
  let runs: Promise<Run>[];
  let earlier: bigint;

  const held = () => market.amountOf(market.callers[0]!.usdc);
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
    const commands = [
      ['execution', 'open', market.agentId, '--task', 'x'],
      ['keys', 'create', '--name', 'lost', '--base-url', market.relay.url],
    ];
    nodes = await Promise.all(commands.map(() => startSilentNode(market.node)));
    earlier = await held();
    // In parallel, because each runs until the command's long timeout.
    const keypair = terminal.file('wallet.json', JSON.stringify([...market.callers[0]!.wallet.secretKey]));
    runs = commands.map((words, index) =>
      cli([...words, '--rpc-url', nodes[index]!.url, '--keypair', keypair, '--json']),
    );
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
    let repeats = 0;
    const onRepeat = () => {
      repeats += 1;
    };
    const patience = { repeats: Number.POSITIVE_INFINITY, totalMs: 1_000, onRepeat };
    const error = await repeat(request, patience).catch((reason) => reason);
    expect(error).to.be.instanceOf(MarketplaceError);
    expect(repeats).to.be.greaterThan(0);
  });

  it('reports an unknown outcome with the signature when the node stops answering after the send', async () => {
    const { code, stdout, stderr } = await runs[0]!;
    expect({ code, stdout }).to.deep.equal({ code: 3, stdout: '' });
    expect(nodes[0]!.sent).to.have.length(1);
    expect(stderr).to.include(`The outcome is unknown: the transaction ${nodes[0]!.sent[0]} was sent`);
    // The execution was opened, so reporting a failure would be false. Its id was printed before.
    expect(await held()).to.equal(earlier - 250_000n);
    const [id] = /[0-9a-f-]{36}/.exec(stderr) ?? [];
    expect(await terminal.look('execution', 'show', String(id))).to.include({ status: 'open', escrow_usdc: '0.25' });
  });

  it('prints a key that may already be able to spend', async () => {
    const { code, stdout, stderr } = await runs[1]!;
    expect(code).to.equal(3);
    expect(stderr).to.include(`The outcome is unknown: the transaction ${nodes[1]!.sent[0]} was sent`);
    const { api_key } = JSON.parse(stdout);
    const grant = findGrant(market.callers[0]!.wallet.publicKey, keyIdOf(api_key));
    const account = await market.node.connection.getAccountInfo(grant);
    expect(decodeAccount('KeyGrant', account?.data as Buffer).revoked).to.equal(false);
  });

  installsTemplates(market);

  it('asks the user to name a node when no service names one', async () => {
    const { code, stderr } = await runHere(['admin', 'config', '--base-url', 'http://127.0.0.1:1']);
    expect(code).to.equal(1);
    expect(stderr).to.include('No server answers at http://127.0.0.1:1.').and.include('Give its URL with --rpc-url.');
  });
});

/**
 * The relay as an operator starts it, in its own process: paid calls with priority fees, its log in a run full of
 * secrets, and its stop.
 */
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { ComputeBudgetProgram } from '@solana/web3.js';
import { expect } from 'chai';
import { FIELDS } from '../../../app/relay/log.ts';
import { readTransaction } from '../../../app/sdk/program/transaction.ts';
import { createApiKey } from '../../../app/sdk/receipt/apiKey.ts';
import { deferred, until, untilFound } from '../../harness/edge/until.ts';
import { type Recorded, startHeliusFront } from '../../harness/node/heliusFront.ts';
import {
  afterPaying,
  failedAnswer,
  goodAnswer,
  PRICE,
  request,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { type RelayMain, startRelayMain, useIndexer } from '../../harness/node/relayMain.ts';

const API_KEY = '11111111-2222-3333-4444-555555555555';

describe('app/relay/main.ts', () => {
  /** The running one. A test can continue with the relay of the one before. */
  let relay: RelayMain;
  const market = useMarketplace();
  useIndexer(market);
  after(async () => {
    relay?.child.kill('SIGKILL');
    await relay?.exited;
  });

  describe('paid calls with priority, on a real node', () => {
    const fronts: Awaited<ReturnType<typeof startHeliusFront>>[] = [];
    after(() => {
      for (const one of fronts) one.stop();
    });
    async function front(recorded: Recorded) {
      const started = await startHeliusFront(recorded, market.node);
      fronts.push(started);
      return started;
    }

    /** Runs a call and a refund through a relay with these settings. Returns the priority fee of each transaction. */
    async function payThrough(settings: NodeJS.ProcessEnv, { calls }: Awaited<ReturnType<typeof front>>) {
      const relay = await startRelayMain(market, settings);
      const execute = (task: string) => market.execute(relay.url, { task });
      try {
        await until('the price is asked for', () => calls.some(({ method }) => /Fee/.test(method)));
        const before = await market.balances();
        market.setBehaviour(null);
        expect((await execute('paid')).status).to.equal(200);
        market.setBehaviour((_body, response) => void response.writeHead(500).end());
        expect((await execute('refunded')).status).to.equal(500);
        expect(await market.balances()).to.deep.equal(afterPaying(before));
      } finally {
        relay.child.kill('SIGKILL');
        await relay.exited;
      }
      const { connection } = market.node;
      const signatures = await connection.getSignaturesForAddress(
        market.authority.publicKey,
        { limit: 4 },
        'confirmed',
      );
      const paid = await Promise.all(
        signatures.map(async ({ signature }) => {
          const found = await readTransaction(connection, signature);
          const { message } = found!.transaction;
          const data = message.compiledInstructions
            .filter(({ programIdIndex: at }) => message.staticAccountKeys[at]!.equals(ComputeBudgetProgram.programId))
            .map((instruction) => Buffer.from(instruction.data));
          const units = data.find((bytes) => bytes[0] === 2)?.readUInt32LE(1) ?? null;
          const price = data.find((bytes) => bytes[0] === 3)?.readBigUInt64LE(1) ?? null;
          return { units, price, consumed: found!.meta!.computeUnitsConsumed! };
        }),
      );
      return { paid, log: relay.log() };
    }

    it('use fitting limits, the market price and a maximum from a plain node', async () => {
      const recorded = { getRecentPrioritizationFees: () => [{ slot: 1, prioritizationFee: 2_500 }] };
      const plain = await front(recorded);
      const { paid } = await payThrough({ SOLANA_RPC_URL: plain.baseUrl }, plain);
      expect(paid.map(({ price }) => price)).to.deep.equal([2_500n, 2_500n, 2_500n, 2_500n]);
      for (const { units, consumed } of paid) expect(units).to.be.greaterThan(consumed).and.lessThan(400_000);
    });

    it('use Helius through its address alone, and log its key nowhere', async () => {
      const helius = await front({ getPriorityFeeEstimate: () => ({ priorityFeeEstimate: 9_000_000 }) });
      const settings = {
        HELIUS_API_KEY: API_KEY,
        HELIUS_URL: helius.baseUrl,
        // An address where no server listens.
        SOLANA_RPC_URL: 'http://127.0.0.1:9',
        SOLANA_WS_URL: 'ws://127.0.0.1:9',
        MAX_PRIORITY_FEE_LAMPORTS: '1000',
        LOG_LEVEL: 'debug',
      };
      const { paid, log: written } = await payThrough(settings, helius);
      for (const { units, price } of paid) {
        expect(Number(price) * units!).to.be.at.most(1_000 * 1e6);
        expect(Number(price) * units!).to.be.greaterThan(999 * 1e6);
      }
      expect(helius.calls.every(({ url }) => url === `/?api-key=${API_KEY}`)).to.equal(true);
      expect(helius.upgrades).to.deep.equal([`/?api-key=${API_KEY}`]);
      expect(written).to.include('relay is ready').and.not.include(API_KEY);
    });
  });

  describe('the log of a run full of secrets', () => {
    const canaries: string[] = [];
    const canary = (where: string): string => {
      const text = `canary${where}${Math.random().toString(36).slice(2)}`;
      canaries.push(text);
      return text;
    };

    it('contains none of them, and still reports all events', async () => {
      relay = await startRelayMain(market, { LOG_LEVEL: 'debug', SHUTDOWN_SECONDS: '2' });
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
      expect(
        (await post(path, canary('Type'), { ...bearer, 'content-type': `text/${canary('Mime')}` })).status,
      ).to.equal(415);
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

  describe('stopping the relay', function () {
    // A test continues with the relay that the one before has started again.
    this.bail(true);
    before(async () => {
      relay ??= await startRelayMain(market, { SHUTDOWN_SECONDS: '2' });
    });
    const execute = (url: string, task: string) => market.execute(url, { task });

    /** A creator that is called and does not answer until `answer` is called; from then on it always answers. */
    function holdCreator() {
      const { promise: released, resolve: release } = deferred();
      const called = new Promise<string>((resolve) => {
        market.setBehaviour((body, _response, reply) => {
          resolve(body.execution_id);
          released.then(() => reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`)));
        });
      });
      return { called, answer: release };
    }

    it('answers 202 to waiting callers, exits with 0 in time, and pays the call after the restart', async () => {
      const before = await market.balances();
      const creator = holdCreator();
      const call = execute(relay.url, 'interrupted');
      const executionId = await creator.called;
      const told = performance.now();
      relay.child.kill('SIGTERM');
      const answer = await call;
      expect(answer.status).to.equal(202);
      expect(answer.body).to.deep.equal({ execution_id: executionId, status: 'running' });
      expect(await relay.exited).to.equal(0);
      expect(performance.now() - told).to.be.lessThan(60_000);
      expect(await fetch(`${relay.url}/health`).catch(() => 'refused')).to.equal('refused');
      expect(await market.escrowExists(executionId)).to.equal(true);
      expect((await market.balances()).callers[0]).to.equal(before.callers[0]! - PRICE);

      creator.answer();
      relay = await startRelayMain(market, { SHUTDOWN_SECONDS: '60' });
      expect(await market.endOf(relay.url, executionId)).to.include({ result: 'done: interrupted', cost_usdc: 0.25 });
      expect(await market.balances()).to.deep.equal(afterPaying(before));
      expect(await market.escrowExists(executionId)).to.equal(false);
    });

    it('finishes a call that is nearly done, and starts nothing new', async () => {
      const { url, log, child } = relay;
      const before = await market.balances();
      const creator = holdCreator();
      const call = execute(url, 'nearly done');
      await creator.called;
      const told = performance.now();
      child.kill('SIGTERM');
      await untilFound('the stop', () => (log().includes('"stopping"') ? true : null));
      expect(await fetch(`${url}/ready`).catch(() => 'refused')).to.equal('refused');
      creator.answer();
      const answer = await call;
      expect(answer.status).to.equal(200);
      expect(answer.body).to.include({ status: 'completed', result: 'done: nearly done' });
      expect(await relay.exited).to.equal(0);
      expect(performance.now() - told).to.be.lessThan(58_000);
      expect(await market.balances()).to.deep.equal(afterPaying(before));
    });

    it('exits at once on a second signal', async () => {
      relay = await startRelayMain(market, { SHUTDOWN_SECONDS: '600' });
      const { child } = relay;
      const before = await market.balances();
      const creator = holdCreator();
      const call = execute(relay.url, 'cut off').catch(() => 'no answer');
      const executionId = await creator.called;
      const told = performance.now();
      // Signals that arrive together count as one, so it is signalled until it listens.
      const again = setInterval(() => child.kill('SIGTERM'), 100);
      const code = await relay.exited.finally(() => clearInterval(again));
      expect(code).to.equal(1);
      expect(performance.now() - told).to.be.lessThan(300_000);
      expect(await call).to.equal('no answer');

      creator.answer();
      relay = await startRelayMain(market, { SHUTDOWN_SECONDS: '600', LEAVE_SECONDS: '60' });
      expect(await market.endOf(relay.url, executionId)).to.include({ status: 'completed' });
      expect((await market.balances()).callers[0]).to.equal(before.callers[0]! - PRICE);
    });

    it('warns proxies first, serves requests that still arrive, and closes their connections afterwards', async () => {
      const { url, child } = relay;
      const before = await market.balances();
      child.kill('SIGTERM');
      const unready = await untilFound('the announcement', async () => {
        const ready = await request(url, '/ready');
        return ready.status === 503 ? ready : null;
      });
      expect(unready.body.problems).to.include('stopping');
      const answer = await execute(url, 'while it leaves');
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('connection')).to.equal('close');
      expect((await market.balances()).callers[0]).to.equal(before.callers[0]! - PRICE);
    });
  });
});

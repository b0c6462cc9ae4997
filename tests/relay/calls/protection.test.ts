/**
 * Limits of the fee payer's losses, on the real node. The fees of failed opens have budgets by wallet, by agent and in
 * total. A wallet can have only as many opens in flight as its paid calls allow.
 */

import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
} from '@solana/web3.js';
import { expect } from 'chai';
import { networkFee } from '../../../app/relay/chain/networkFee.ts';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { generateSigningKey } from '../../../app/sdk/creator/signingKey.ts';
import { findSpender } from '../../../app/sdk/program/program.ts';
import { requestHash } from '../../../app/sdk/receipt/receipt.ts';
import { changePause } from '../../../app/sdk/wallet/changes.ts';
import { openByWallet } from '../../../app/sdk/wallet/executions.ts';
import { changeSettings } from '../../../app/sdk/wallet/settings.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  failedAnswer,
  goodAnswer,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { FORGETFUL, startRelayHere } from '../../harness/node/relayHere.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';

/** Fee of one signature, in lamports. */
const FEE = 5_000;
/** Lamports that a call of an unproven wallet can burn: its open and two failed ends. */
const RISK = 3 * FEE;
const SOL = 1e9;
const MAX_OPEN = 3;

describe('relay/networkFee', () => {
  const payer = Keypair.generate().publicKey;
  const program = Keypair.generate();
  const other = { programId: program.publicKey, keys: [], data: Buffer.alloc(0) };
  const feeOf = (...instructions: TransactionInstruction[]): bigint => {
    const message = new TransactionMessage({ payerKey: payer, recentBlockhash: payer.toBase58(), instructions });
    return networkFee(message.compileToV0Message());
  };
  const price = (microLamports: number) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports });
  const limit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units });

  it('charges 5,000 lamports for every signature', () => {
    expect(feeOf(other)).to.equal(5_000n);
    expect(feeOf({ ...other, keys: [{ pubkey: program.publicKey, isSigner: true, isWritable: false }] })).to.equal(
      10_000n,
    );
  });

  it('adds the price of its compute units, rounded up', () => {
    expect(feeOf(limit(35_000), price(1_000_000), other)).to.equal(40_000n);
    expect(feeOf(limit(35_000), price(1), other)).to.equal(5_001n);
    expect(feeOf(limit(35_000), price(0), other)).to.equal(5_000n);
    expect(feeOf(price(10_000), other, other)).to.equal(9_000n);
  });
});

describe('protection of the fee payer', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  let proxy: RpcProxy;
  let relay: RunningRelay;
  const others: RunningRelay[] = [];
  /** Releases opens that are held before the node, in order of arrival; null while they pass. */
  let held: (() => void)[] | null = null;

  before(async () => {
    // An open that is held before the node expires after 150 slots.
    market = await startMarketplace({ slotTimeMs: 200 });
    proxy = await startRpcProxy(market.node);
    // The relay resends each open; it is held once.
    const standing = new Map<unknown, Promise<void>>();
    proxy.onCall(async ({ kind, params: [bytes] }) => {
      const holding = held;
      if (kind === 'open' && holding && !standing.has(bytes)) {
        standing.set(bytes, new Promise<void>((resolve) => holding.push(resolve)));
      }
      await standing.get(bytes);
      return null;
    });
    relay = await startOwn({ MAX_OPEN_EXECUTIONS: String(MAX_OPEN) });
  });
  after(async () => {
    await relay.stop();
    await proxy.close();
    await market.stop();
  });
  beforeEach(async () => {
    held = null;
    market.setBehaviour(null);
    for (const caller of [0, 1]) await fillTank(SOL, caller);
  });
  afterEach(async () => {
    for (const other of others.splice(0)) await other.stop();
  });

  const startOwn = (settings: NodeJS.ProcessEnv) =>
    startRelayHere(market, {
      SOLANA_RPC_URL: proxy.rpcUrl,
      SOLANA_WS_URL: proxy.wsUrl,
      SPONSOR: 'budgets',
      TRIAL_CALLS_PER_WALLET: '0',
      ...FORGETFUL,
      ...settings,
    });
  /** A ledger without rows, and a new relay on it. */
  async function startAnew(settings: NodeJS.ProcessEnv = {}): Promise<RunningRelay> {
    await market.forgetExecutions();
    others.push(await startOwn(settings));
    return others.at(-1)!;
  }
  const fillTank = (lamports: number, caller = 0) =>
    market.node.fundSol(findSpender(market.callers[caller]!.wallet.publicKey), lamports);
  const execute = (caller: number, body: object = { task: 'x' }, to = relay, agent = market.agentId): Promise<Answer> =>
    request(to.url, `/v1/agents/${agent}/execute`, { apiKey: market.callers[caller]!.apiKey, body });
  const lamports = () => market.node.connection.getBalance(market.authority.publicKey, 'confirmed');

  /** Runs parallel calls and empties the gas balance while their opens are in flight. Each costs the relay its fee. */
  async function burn(to: RunningRelay, count = 1, caller = 0): Promise<Answer[]> {
    const holding: (() => void)[] = [];
    held = holding;
    const calls = Array.from({ length: count }, () => execute(caller, { task: 'x' }, to));
    await until('the opens are in flight', async () => holding.length >= count);
    held = null;
    await fillTank(0, caller);
    for (const pass of holding) pass();
    const answers = await Promise.all(calls);
    await fillTank(SOL, caller);
    return answers;
  }

  async function refused(answer: Answer, says: RegExp, retryAfter: string): Promise<void> {
    expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([503, 'service_unavailable']);
    expect(answer.body.error.message).to.match(says);
    expect(answer.body.error.execution_id).to.equal(null);
    expect(answer.headers.get('retry-after')).to.equal(retryAfter);
  }

  it('burns only the fee of an open that fails, and names the limit to the caller', async () => {
    const own = await startAnew();
    const [before, balances] = [await lamports(), await market.balances()];
    const [answer] = await burn(own);
    expect([answer!.status, answer!.body.error.code], answer!.text).to.deep.equal([402, 'insufficient_balance']);
    expect(answer!.body.error.details).to.include({ limit: 'gas', have_lamports: null, need_lamports: null });
    expect(await lamports()).to.equal(before - FEE);
    expect(await market.balances()).to.deep.equal(balances);
    expect(await market.query('ledger', 'SELECT lost_fees FROM executions')).to.deep.equal([{ lost_fees: 5_000n }]);
  });

  it('refuses execute and start for a wallet whose calls burnt the daily limit, and for no other', async () => {
    const own = await startAnew({ BURNT_LAMPORTS_PER_WALLET_DAY: String(2 * FEE + RISK) });
    expect((await execute(0, { task: 'x' }, own)).status).to.equal(200);
    for (let times = 0; times < 3; times += 1) expect((await burn(own))[0]!.status).to.equal(402);
    const [before, balances] = [await lamports(), await market.balances()];
    await refused(await execute(0, { task: 'x' }, own), /lamports of unpaid network fees/, '900');
    const opened = await openByWallet(market.marketplace, {
      wallet: keypairSigner(market.callers[1]!.wallet),
      agentId: new PublicKey(market.agentId),
      requestHash: requestHash('x'),
    });
    await market.query('ledger', 'UPDATE executions SET lost_fees = 0, wallet = wallet');
    expect((await execute(0, { task: 'x' }, own)).status).to.equal(200);
    const theirs = market.callers[1]!.wallet.publicKey.toBase58();
    await market.query('ledger', `UPDATE executions SET lost_fees = 15000, wallet = '${theirs}' WHERE state = 'void'`);
    const path = `/v1/executions/${opened.execution_id}/start`;
    const start = () => request(own.url, path, { apiKey: market.callers[1]!.apiKey, body: { task: 'x' } });
    await refused(await start(), /lamports of unpaid network fees/, '900');
    expect((await market.record(opened.execution_id))?.status).to.equal('open');
    // The difference is the price of the call that was served, and the rent of its record.
    expect((await market.balances()).callers[0]).to.equal(balances.callers[0]! - 250_000n);
    expect(before).to.be.greaterThan(await lamports());
    await market.query('ledger', `UPDATE executions SET lost_ms = lost_ms - ${24 * 3_600_000}`);
    expect((await start()).status).to.equal(200);
  });

  it('limits what the calls of one agent burn, and lets the same wallet call other agents', async () => {
    const signingKey = generateSigningKey();
    market.setBehaviour((body, _response, reply) => reply(goodAnswer(signingKey, body.execution_id, 'x')));
    const elsewhere = await market.list({ name: 'another', endpoint: market.endpoint, signingKey });
    const own = await startAnew({ BURNT_LAMPORTS_PER_LISTING_DAY: String(2 * (FEE + RISK)) });
    for (let times = 0; times < 2; times += 1) await burn(own);
    const before = await lamports();
    for (const caller of [0, 1]) await refused(await execute(caller, { task: 'x' }, own), /Calls of this agent/, '900');
    expect(await lamports()).to.equal(before);
    expect((await execute(0, { task: 'x' }, own, elsewhere)).status).to.equal(200);
  });

  it('keeps half of the total burn limit for wallets that have paid for calls', async () => {
    const own = await startAnew({ BURNT_LAMPORTS_PER_DAY: String(2 * (FEE + RISK)) });
    for (let times = 0; times < 4; times += 1) expect((await execute(1, { task: 'x' }, own)).status).to.equal(200);
    for (let times = 0; times < 2; times += 1) expect((await burn(own))[0]!.status).to.equal(402);
    const before = await lamports();
    await refused(await execute(0, { task: 'x' }, own), /Failed calls/, '900');
    expect(await lamports()).to.equal(before);
    expect((await execute(1, { task: 'x' }, own)).status).to.equal(200);
    // After one failure the wallet counts as a stranger again.
    expect((await burn(own, 1, 1))[0]!.status).to.equal(402);
    await refused(await execute(1, { task: 'x' }, own), /Failed calls/, '900');
  });

  it('refuses at once a call that waits for an earlier one to end, and accepts it afterwards', async () => {
    const own = await startAnew({ BURNT_LAMPORTS_PER_WALLET_DAY: String(FEE + RISK) });
    let answer = (): void => undefined;
    const isCalled = new Promise<void>((resolve) =>
      market.setBehaviour((body, _response, reply) => {
        answer = () => reply(goodAnswer(market.signingKey, body.execution_id, 'x'));
        resolve();
      }),
    );
    const first = execute(0, { task: 'slow' }, own);
    await isCalled;
    const began = performance.now();
    await refused(await execute(0, { task: 'second' }, own), /Too many calls in progress for this wallet/, '5');
    expect(performance.now() - began).to.be.below(15_000);
    market.setBehaviour(null);
    answer();
    expect((await first).status).to.equal(200);
    expect((await execute(0, { task: 'second' }, own)).status).to.equal(200);
  });

  describe('opens in flight', () => {
    /**
     * Runs this many calls in parallel. Returns how many opens reach the node, and the tasks in order of their answers.
     */
    async function flood(count: number, expected: number, ...relays: RunningRelay[]) {
      const holding: (() => void)[] = [];
      held = holding;
      const served: string[] = [];
      market.setBehaviour((body, _response, reply) => {
        served.push(body.task);
        reply(goodAnswer(market.signingKey, body.execution_id, 'x'));
      });
      const calls: Promise<Answer>[] = [];
      for (let n = 0; n < count; n += 1) {
        calls.push(execute(0, { task: `call ${n}` }, relays[n % relays.length]));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await until('the first stand before the node', async () => holding.length >= expected);
      // Long enough for the other opens to arrive, if they were allowed.
      await new Promise((resolve) => setTimeout(resolve, 700));
      const inFlight = holding.length;
      return { inFlight, holding, served, answers: Promise.all(calls) };
    }

    it('are limited to four for a wallet that has not paid yet; its other calls wait in order', async () => {
      const own = await startAnew();
      const { inFlight, holding, served, answers } = await flood(12, 4, own);
      expect(inFlight).to.equal(4);
      // One at a time, so that executions are served in the order of their opens.
      for (let passed = 0; passed < 12; passed += 1) {
        await until('the next stands there', async () => holding.length > 0);
        holding.shift()!();
        await until('it is served', async () => served.length > passed);
      }
      held = null;
      expect((await answers).map(({ status }) => status)).to.deep.equal(Array(12).fill(200));
      // Which four of the parallel calls come first is random. Those that waited are served in order.
      const waited = served.slice(4).map((task) => Number(task.split(' ')[1]));
      expect(waited).to.deep.equal(waited.toSorted((one, other) => one - other));
      expect(new Set(served).size).to.equal(12);
    });

    it('grow by one for each four paid calls, across relays, and return to four after a failed open', async () => {
      const one = await startAnew();
      others.push(await startOwn({}));
      const both = [one, others.at(-1)!];
      for (let paid = 0; paid < 8; paid += 1) expect((await execute(0, { task: 'x' }, one)).status).to.equal(200);
      const grown = await flood(10, 6, ...both);
      expect(grown.inFlight).to.equal(6);
      held = null;
      for (const pass of grown.holding) pass();
      expect((await grown.answers).map(({ status }) => status)).to.deep.equal(Array(10).fill(200));
      await burn(one);
      const shrunk = await flood(7, 4, ...both);
      expect(shrunk.inFlight).to.equal(4);
      held = null;
      for (const pass of shrunk.holding) pass();
      expect((await shrunk.answers).map(({ status }) => status)).to.deep.equal(Array(7).fill(200));
    });

    it('burn at most four fees when the gas balance is emptied, not one for each waiting call', async () => {
      const own = await startAnew();
      const before = await lamports();
      const { inFlight, holding, answers } = await flood(30, 4, own);
      expect(inFlight).to.equal(4);
      await fillTank(0);
      held = null;
      for (const pass of holding) pass();
      const statuses = (await answers).map(({ status }) => status);
      expect(statuses).to.deep.equal(Array(30).fill(402));
      expect(await lamports()).to.equal(before - 4 * FEE);
    });
  });

  it('refuses a wallet with too many open executions until one of them ends, and no other wallet', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    market.setBehaviour(async (body, _response, reply) => {
      await held;
      reply(failedAnswer(body.execution_id));
    });
    for (let count = 0; count < MAX_OPEN; count += 1) {
      expect((await execute(1, { task: 'x', async: true })).body.status).to.equal('pending');
    }
    const before = await market.balances();
    await refused(await execute(1), /3 open executions, the maximum/, '10');
    expect(await market.balances()).to.deep.equal(before);
    expect((await execute(0, { task: 'x', async: true })).body.status).to.equal('pending');
    release();
    await until('the open ones have ended', async () => {
      const answer = await execute(1);
      return !answer.body.error?.message?.includes('open executions');
    });
  });

  describe('opens that the program would refuse', () => {
    const admin = () => market.node.payer;
    const change = (settings: Parameters<typeof changeSettings>[2]) =>
      changeSettings(market.marketplace, keypairSigner(admin()), settings);
    const pause = (isPaused: boolean) => changePause(market.marketplace, keypairSigner(admin()), isPaused);
    /** Runs calls that are refused with this message, and expects that none costs a fee. */
    async function requireFree(says: RegExp): Promise<void> {
      const before = await lamports();
      for (let count = 0; count < 5; count += 1) {
        const answer = await execute(0);
        expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([503, 'service_unavailable']);
        expect(answer.body.error.message).to.match(says);
        expect(answer.body.error.execution_id).to.equal(null);
      }
      expect(await lamports()).to.equal(before);
    }

    it('burn at most one fee while opens are paused; /ready says so, and calls continue after the resume', async () => {
      await pause(true);
      const first = await execute(0);
      expect([first.status, first.body.error.code], first.text).to.deep.equal([503, 'service_unavailable']);
      await requireFree(/has paused new executions/);
      const ready = await request(relay.url, '/ready');
      expect([ready.status, ready.body.problems]).to.deep.equal([503, ['opens_paused']]);
      await pause(false);
      await until('calls are served again', async () => (await execute(0)).status === 200);
    });

    it('burn one fee at an exposure limit, count it against the caller, and let other agents continue', async () => {
      const signingKey = generateSigningKey();
      market.setBehaviour((body, _response, reply) => reply(goodAnswer(signingKey, body.execution_id, 'x')));
      const elsewhere = await market.list({ name: 'exposed', endpoint: market.endpoint, signingKey });
      market.setBehaviour(null);
      await change({ exposureMultiple: 1 });
      try {
        const wallet = market.callers[0]!.wallet.publicKey.toBase58();
        const lostBy = async (): Promise<bigint> =>
          (await market.query('ledger', `SELECT sum(lost_fees) AS lost FROM executions WHERE wallet = '${wallet}'`))[0]
            .lost;
        const lostBefore = await lostBy();
        let last: Answer;
        do last = await execute(0);
        while (last.status === 200);
        expect(last.body.error.message).to.match(/escrow could not be opened|collateral/);
        expect((await lostBy()) - lostBefore).to.equal(5_000n);
        await requireFree(/its collateral covers in this period/);
        const other = { apiKey: market.callers[0]!.apiKey, body: { task: 'x', async: true } };
        expect((await request(relay.url, `/v1/agents/${elsewhere}/execute`, other)).status).to.equal(200);
      } finally {
        await change({ exposureMultiple: 0 });
      }
    });
  });
});

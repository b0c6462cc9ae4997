/**
 * Limits of the fee payer's losses, on the real node. A wallet may have one open in flight, more by its completed calls.
 * It repays the fees of its opens that failed; a listing that changed under opens is refused for a while.
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
import { findSpender, setListingStatus } from '../../../app/sdk/program/program.ts';
import { keyIdOf } from '../../../app/sdk/receipt/apiKey.ts';
import { changePause } from '../../../app/sdk/wallet/changes.ts';
import { updateKey } from '../../../app/sdk/wallet/grants.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { changeSettings } from '../../../app/sdk/wallet/settings.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import { readRents } from '../../harness/node/funds.ts';
import { type Answer, goodAnswer, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { FORGETFUL, startRelayHere, useRelaysHere } from '../../harness/node/relayHere.ts';
import { holdSends, useRpcProxy } from '../../harness/node/rpcProxy.ts';

/** Fee of one signature, in lamports. */
const FEE = 5_000;
/** What a call pays to the relay at open, and what it parks for its end and its archiving, lamports. */
const [OPEN, END] = [FEE, 5_700];
const SOL = 1e9;

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

  it('adds the price of its compute units, rounded up', () => {
    expect(feeOf(limit(35_000), price(1_000_000), other)).to.equal(40_000n);
    expect(feeOf(limit(35_000), price(1), other)).to.equal(5_001n);
    expect(feeOf(limit(35_000), price(0), other)).to.equal(5_000n);
    expect(feeOf(price(10_000), other, other)).to.equal(9_000n);
  });
});

describe('protection of the fee payer', () => {
  let relay: RunningRelay;
  let opens: ReturnType<typeof holdSends>;

  // An open that is held before the node expires after 150 slots.
  const market = useMarketplace({ slotTimeMs: 200 });
  const proxy = useRpcProxy(market);
  const start = useRelaysHere(market);
  before(async () => {
    opens = holdSends(proxy, 'open');
    relay = await startRelayHere(market, settings());
  });
  after(() => relay.stop());
  beforeEach(async () => {
    opens.release();
    market.setBehaviour(null);
    for (const caller of [0, 1]) await fillGasBalance(SOL, caller);
  });
  const settings = () => ({ ...proxy.environment, ...FORGETFUL });
  /** A ledger without rows, and a new relay on it. */
  async function startAnew(): Promise<RunningRelay> {
    await market.forgetExecutions();
    return start(settings());
  }
  const fillGasBalance = (lamports: number, caller = 0) =>
    market.node.fundSol(findSpender(market.callers[caller]!.wallet.publicKey), lamports);
  const execute = (caller: number, body: object = { task: 'x' }, to = relay, agent?: string): Promise<Answer> =>
    market.execute(to.url, body, { caller, agent });
  const lamports = () => market.node.connection.getBalance(market.authority.publicKey, 'confirmed');

  /** Runs a call and empties the gas balance while its open is in flight. It costs the relay its fee. */
  async function burn(to: RunningRelay, caller = 0): Promise<Answer> {
    const holding = opens.hold();
    const call = execute(caller, { task: 'x' }, to);
    await until('the open is in flight', async () => holding.length >= 1);
    await fillGasBalance(0, caller);
    opens.release();
    const answer = await call;
    await fillGasBalance(SOL, caller);
    return answer;
  }
  /** Moves the lost fees of the ledger into the past. */
  const pass = (minutes: number) =>
    market.query(
      'ledger',
      `UPDATE debts SET lost_ms = lost_ms - ${minutes * 60_000}`,
      `UPDATE executions SET lost_ms = lost_ms - ${minutes * 60_000} WHERE lost_ms > 0`,
    );
  const rentOfRecord = async () => Number((await readRents(market)).record);

  async function refused(answer: Answer, says: RegExp, most: number): Promise<void> {
    expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([503, 'service_unavailable']);
    expect(answer.body.error.message).to.match(says);
    expect(answer.body.error.execution_id).to.equal(null);
    expect(Number(answer.headers.get('retry-after'))).to.be.within(most - 30, most);
  }

  it('lets a wallet whose open failed try once a minute, and its next call repays the fee', async () => {
    const own = await startAnew();
    const [before, balances] = [await lamports(), await market.balances()];
    const answer = await burn(own);
    expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([402, 'insufficient_balance']);
    expect(answer.body.error.details).to.include({ limit: 'gas', have_lamports: null, need_lamports: null });
    expect(await lamports()).to.equal(before - FEE);
    expect(await market.balances()).to.deep.equal(balances);
    expect(await market.query('ledger', 'SELECT lost_fees FROM executions')).to.deep.equal([{ lost_fees: 5_000n }]);
    await refused(await execute(0, { task: 'x' }, own), /The wallet owes 5000 lamports/, 60);
    // Other wallets do not wait for it.
    expect((await execute(1, { task: 'x' }, own)).status).to.equal(200);
    const between = await lamports();

    await pass(1);
    const repaid = await execute(0, { task: 'x' }, own);
    expect(repaid.status, repaid.text).to.equal(200);
    expect(await lamports()).to.equal(between + OPEN + END - 2 * FEE + FEE - (await rentOfRecord()));
    expect(await market.query('ledger', 'SELECT lamports FROM debts')).to.deep.equal([]);
    const id = repaid.body.execution_id;
    const row = `SELECT fee_lamports, repaid_lamports, gas_lamports FROM executions WHERE execution_id = '${id}'`;
    expect(await market.query('ledger', row)).to.deep.equal([
      { fee_lamports: BigInt(OPEN + FEE), repaid_lamports: BigInt(FEE), gas_lamports: BigInt(END) },
    ]);
    expect((await execute(0, { task: 'x' }, own)).status).to.equal(200);
  });

  it('refuses a key whose gas limit leaves nothing to repay what its wallet owes, and names the limit that would', async () => {
    const own = await startAnew();
    const { wallet, apiKey } = market.callers[0]!;
    const keyId = Buffer.from(keyIdOf(apiKey)).toString('hex');
    const limit = (maxGasLamports: number) =>
      updateKey(market.marketplace, { wallet: keypairSigner(wallet), keyId, change: { maxGasLamports } });
    await limit(OPEN + END);
    expect((await execute(0, { task: 'x' }, own)).status).to.equal(200);
    await market.query('ledger', 'UPDATE executions SET lost_fees = 5000, lost_ms = 1');
    const refused = await execute(0, { task: 'x' }, own);
    expect([refused.status, refused.body.error.code], refused.text).to.deep.equal([402, 'insufficient_balance']);
    const details = { have_lamports: OPEN + END, need_lamports: OPEN + END + 1 };
    expect(refused.body.error.details).to.include({ limit: 'gas', ...details });
    await limit(20_000);
    expect((await execute(0, { task: 'x' }, own)).status).to.equal(200);
    expect(await market.query('ledger', 'SELECT lamports FROM debts')).to.deep.equal([]);
  });

  it('counts opens that fail because the creator changed the listing against the listing', async () => {
    const signingKey = generateSigningKey();
    market.setBehaviour((body, _response, reply) => reply(goodAnswer(signingKey, body.execution_id, 'x')));
    const changing = await market.list({ name: 'changing', endpoint: market.endpoint, signingKey });
    const own = await startAnew();
    const holding = opens.hold();
    const calls = [0, 1].map((caller) => execute(caller, { task: 'x' }, own, changing));
    await until('the opens are in flight', async () => holding.length >= 2);
    const agent = new PublicKey(changing);
    const setStatus = (status: 'active' | 'paused') =>
      sendTransaction(
        market.node.connection,
        [setListingStatus({ creator: market.creator.publicKey, listing: agent, status })],
        keypairSigner(market.creator),
      );
    await setStatus('paused');
    opens.release();
    for (const answer of await Promise.all(calls)) {
      expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([422, 'agent_paused']);
    }
    const lost =
      'SELECT CAST(sum(lost_fees) AS BIGINT) AS mine, CAST(sum(listing_fees) AS BIGINT) AS theirs FROM executions';
    expect(await market.query('ledger', lost)).to.deep.equal([{ mine: 0n, theirs: BigInt(2 * FEE) }]);
    await setStatus('active');
    await until('it is served again', async () => (await execute(0, { task: 'x' }, own, changing)).status === 200);
  });

  describe('opens in flight', () => {
    /**
     * Runs this many calls in parallel. Returns how many opens reach the node, and the tasks in order of their answers.
     */
    async function flood(count: number, expected: number, ...relays: RunningRelay[]) {
      const holding = opens.hold();
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

    it('are limited to one for a wallet that has not completed a call yet; its other calls wait in order', async () => {
      const own = await startAnew();
      const { inFlight, holding, served, answers } = await flood(5, 1, own);
      expect(inFlight).to.equal(1);
      for (let passed = 0; passed < 5; passed += 1) {
        await until('the next stands there', async () => holding.length > 0);
        holding.shift()!();
        await until('it is served', async () => served.length > passed);
      }
      opens.release();
      expect((await answers).map(({ status }) => status)).to.deep.equal(Array(5).fill(200));
      const waited = served.slice(1).map((task) => Number(task.split(' ')[1]));
      expect(waited).to.deep.equal(waited.toSorted((one, other) => one - other));
    });
  });

  describe('opens that the program would refuse', () => {
    // No wallet owes anything for earlier tests.
    before(() => market.forgetExecutions());

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
      await requireFree(/has paused new calls/);
      const ready = await request(relay.url, '/ready');
      expect([ready.status, ready.body.problems]).to.deep.equal([503, ['opens_paused']]);
      await pause(false);
      await until('calls are served again', async () => (await execute(0)).status === 200);
    });

    it('burn one fee at an exposure limit, count it against the listing, and let other agents continue', async () => {
      const signingKey = generateSigningKey();
      market.setBehaviour((body, _response, reply) => reply(goodAnswer(signingKey, body.execution_id, 'x')));
      const elsewhere = await market.list({ name: 'exposed', endpoint: market.endpoint, signingKey });
      market.setBehaviour(null);
      await change({ exposureMultiple: 1 });
      try {
        const sum = 'SELECT CAST(coalesce(sum(listing_fees), 0) AS BIGINT) AS lost FROM executions';
        const lostBy = async (): Promise<bigint> => (await market.query('ledger', sum))[0].lost;
        const lostBefore = await lostBy();
        let last: Answer;
        do last = await execute(0);
        while (last.status === 200);
        expect(last.body.error.message).to.match(/escrow could not be opened|collateral/);
        expect((await lostBy()) - lostBefore).to.equal(5_000n);
        await requireFree(/its collateral covers in this period/);
        expect((await execute(0, { task: 'x', async: true }, relay, elsewhere)).status).to.equal(200);
      } finally {
        await change({ exposureMultiple: 0 });
      }
    });
  });
});

/**
 * Limits of the fee payer's losses, on the real node. A wallet may have one open in flight, more by its completed calls.
 * It repays the fees of its opens that failed; a listing that changed under opens is refused for a while.
 */
import { ComputeBudgetProgram, Keypair, type TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import { expect } from 'chai';
import { networkFee } from '../../../app/relay/chain/networkFee.ts';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { generateSigningKey } from '../../../app/sdk/creator/signingKey.ts';
import { findSpender } from '../../../app/sdk/program/program.ts';
import { keyIdOf } from '../../../app/sdk/receipt/apiKey.ts';
import { changePause } from '../../../app/sdk/wallet/changes.ts';
import { updateKey } from '../../../app/sdk/wallet/grants.ts';
import { changeSettings } from '../../../app/sdk/wallet/settings.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import { readRents } from '../../harness/node/funds.ts';
import { type Answer, goodAnswer, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { startRelayHere, useRelaysHere } from '../../harness/node/relayHere.ts';
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
  const settings = () => proxy.environment;
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

import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { findTreasury } from '../../../app/sdk/program/program.ts';
import { until } from '../../harness/edge/until.ts';
import { createBuyers, PAYMENT_LAMPORTS, SERVICE_FEE, type SignedPayment, TOTAL } from '../../harness/node/buyers.ts';
import { readRents } from '../../harness/node/funds.ts';
import { FEE, PRICE, type RelayHandle, useMarketplace } from '../../harness/node/marketplace.ts';
import { stopAt } from '../../harness/node/standstill.ts';
import { decodeHeader } from '../../harness/node/x402.ts';

const SIGNATURE_LAMPORTS = 5_000;
/** Lifetime of a deposit, in seconds. */
const DEPOSIT_SECONDS = 600;

/** A payment of this task. */
type Bought = SignedPayment & { task: string };

describe('payments of x402 clients that are interrupted', () => {
  let relay: RelayHandle;
  const feePayer = Keypair.generate();

  const market = useMarketplace({ slotTimeMs: 200, feePayer });
  before(async () => {
    await market.relay.kill();
  });
  afterEach(() => relay.kill());

  const { sign, rich, usdcOf, lamports, isGone, endOf } = createBuyers(market, undefined, () => relay.url);
  const balances = async () => ({
    creator: await market.amountOf(market.creatorUsdc),
    treasury: await market.amountOf(findTreasury()),
    relay: await lamports(market.authority),
    feePayer: await lamports(feePayer),
  });
  const prepare = async (task: string): Promise<Bought> => ({ task, ...(await sign({ task }, { by: await rich() })) });
  const untilStanding = (bought: Bought[]) =>
    until('all stand', async () => bought.every(({ task }) => relay.standing.has(task)));

  /** Pays for calls that stop at these points, and kills the relay there. */
  async function killAt(points: string[]): Promise<Bought[]> {
    relay = await market.startRelayProcess({ STANDSTILL: '1' });
    const bought: Bought[] = [];
    for (const point of points) bought.push(await prepare(stopAt(point, `killed ${market.calls.size}`)));
    const calls = bought.map(({ send }) => send().catch(() => undefined));
    await untilStanding(bought);
    await relay.kill();
    await Promise.all(calls);
    return bought;
  }
  /** The outcomes of the transactions of one kind, the oldest first, for each of these calls. */
  async function outcomesOf(bought: readonly { task: string }[], kind: string): Promise<(string | null)[][]> {
    const rows = await market.query(
      'ledger',
      `SELECT task, outcome FROM executions JOIN transactions USING (execution_id) WHERE kind = '${kind}' ORDER BY attempt`,
    );
    return bought.map(({ task }) => rows.filter((row) => row.task === task).map(({ outcome }) => outcome));
  }

  /** Fees that the chain took by the ledger, lamports: of the relay, and of the fee payer. */
  async function paidByLedger() {
    const rows = await market.query(
      'ledger',
      `SELECT kind, fee FROM transactions WHERE outcome IN ('landed', 'failed')`,
    );
    const sum = (isPayment: boolean) =>
      rows.filter(({ kind }) => (kind === 'pay') === isPayment).reduce((fees, { fee }) => fees + Number(fee), 0);
    return { relay: sum(false), feePayer: sum(true) };
  }

  it('opens a paid deposit again whose open expired while the relay was down, and serves the call once', async () => {
    const before = await balances();
    const bought = await killAt(['openSigned:after', 'send-open:before']);
    await market.node.outlive();
    relay = await market.startRelayProcess();
    for (const one of bought) {
      const answer = await endOf(one.send);
      expect([answer.status, answer.body.result], answer.text).to.deep.equal([200, `done: ${one.task}`]);
      expect(decodeHeader(answer, 'payment-response')).to.include({ success: true, amount: String(TOTAL) });
      expect(market.calls.get(answer.body.execution_id)).to.equal(1);
      expect(await usdcOf(one.payer)).to.equal(0n);
      expect(await isGone(one.deposit)).to.equal(true);
    }
    // The first open is not forgotten.
    expect(await outcomesOf(bought, 'open')).to.deep.equal(bought.map(() => ['expired', 'landed']));
    expect(await outcomesOf(bought, 'settle')).to.deep.equal(bought.map(() => ['landed']));
    const after = await balances();
    expect(after.creator - before.creator).to.equal(2n * (PRICE - FEE));
    expect(after.treasury - before.treasury).to.equal(2n * (FEE + SERVICE_FEE));
    expect(after.feePayer - before.feePayer).to.equal(-2 * PAYMENT_LAMPORTS);
  });

  it('gives price and service fee back if the deposit expired while the relay was down', async () => {
    const before = await balances();
    const known = await paidByLedger();
    const bought = await killAt(['paid:after', 'openSigned:after']);
    const ended = (await market.node.now()) + DEPOSIT_SECONDS;
    await market.node.outlive();
    // It is too late to open, but the deposit has not expired: a return now would cost the service fee.
    await market.node.timeTravel(ended - 30);
    const owners = async () => {
      const rows = await market.query('ledger', `SELECT lease_owner FROM executions WHERE state <> 'settled'`);
      return rows.map(({ lease_owner: owner }) => owner);
    };
    const dead = new Set(await owners());
    relay = await market.startRelayProcess();
    await until('the relay has them', async () => (await owners()).every((owner) => !dead.has(owner)));
    await market.node.timeTravel(ended + 1);
    for (const one of bought) {
      const answer = await endOf(one.send);
      expect([answer.status, answer.body.error?.code], answer.text).to.deep.equal([503, 'service_unavailable']);
      expect(answer.body.error.message).to.match(/expired before .* The payment was sent back\.$/);
      const receipt = decodeHeader(answer, 'payment-response');
      expect(receipt).to.include({ success: false, errorReason: 'refunded', amount: String(TOTAL) });
      expect(receipt.extensions.execution.refund_transaction).to.be.a('string');
      expect((await endOf(one.send)).text).to.equal(answer.text);
      expect(await usdcOf(one.payer)).to.equal(TOTAL);
      expect(await isGone(one.deposit)).to.equal(true);
    }
    // The operator has lost the fees of deposit and return, with two signatures, and of the payment.
    expect(await balances()).to.deep.equal({
      ...before,
      relay: before.relay - 2 * (1 + 2) * SIGNATURE_LAMPORTS,
      feePayer: before.feePayer - 2 * PAYMENT_LAMPORTS,
    });
    // The ledger counts the same, and nothing for the expired open.
    const paid = await paidByLedger();
    expect([paid.relay - known.relay, paid.feePayer - known.feePayer]).to.deep.equal([
      2 * (1 + 2) * SIGNATURE_LAMPORTS,
      2 * PAYMENT_LAMPORTS,
    ]);
    expect(await outcomesOf(bought, 'return')).to.deep.equal(bought.map(() => ['landed']));
  });

  it('refunds a call whose row was lost once nobody can settle it; until its record closes it counts as lent to x402', async () => {
    const [bought] = await killAt(['dispatched:after']);
    const { task, payer } = bought!;
    const [{ execution_id: id }] = await market.query(
      'ledger',
      `SELECT execution_id FROM executions WHERE task = '${task}'`,
    );
    await market.forgetExecutions();
    const lent = () =>
      market.query(
        'ledger',
        'SELECT kind, CAST(sum(lamports) AS BIGINT) AS lamports FROM lent_sums GROUP BY kind ORDER BY kind',
      );
    expect((await lent()).filter(({ lamports: some }) => some !== 0n)).to.deep.equal([]);
    const { refundAt } = (await market.record(id))!;
    await market.node.timeTravel(Number(refundAt) - 59);
    relay = await market.startRelayProcess();
    await until('it is refunded', async () => (await market.record(id))?.status === 'refunded');
    await until('the ledger knows', async () => {
      const [row] = await market.query('ledger', `SELECT state FROM executions WHERE execution_id = '${id}'`);
      return row.state === 'refunded';
    });
    // The service fee went to the treasury when the execution was opened.
    expect(await usdcOf(payer)).to.equal(PRICE);
    const { record } = await readRents(market);
    expect((await lent()).filter(({ lamports: some }) => some !== 0n)).to.deep.equal([
      { kind: 'x402', lamports: record },
    ]);
  });
});

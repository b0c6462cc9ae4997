/** Who bears the network fees of x402 payments that never arrive, and how a wallet repays what it owes. */
import { createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { findTokenAccount } from '../../../app/sdk/program/program.ts';
import { openMarketplace } from '../../../app/sdk/wallet/marketplace.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { changeStatus } from '../../../app/sdk/wallet/upkeep.ts';
import { until } from '../../harness/edge/until.ts';
import { createBuyers, TOTAL } from '../../harness/node/buyers.ts';
import { type Answer, useMarketplace } from '../../harness/node/marketplace.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';
import { stopAt } from '../../harness/node/standstill.ts';

/** Network fees of a deposit and of its return, lamports. */
const LOST = 10_000n;

describe('lost fees of x402 payments', function () {
  this.timeout(300_000);
  const feePayer = Keypair.generate();

  let proxy: RpcProxy;
  const market = useMarketplace({
    here: true,
    feePayer,
    slotTimeMs: 200,
    async environment(node) {
      proxy = await startRpcProxy(node);
      return { ...proxy.environment, STANDSTILL: '1', SPONSOR: 'none' };
    },
  });
  after(() => proxy.close());

  const { ask, buy: pay, rich, usdcOf, isGone, lamports: balanceOf } = createBuyers(market);
  const lamports = async (key: Keypair) => BigInt(await balanceOf(key));
  async function buy(payer: Keypair, task: string, headers: Record<string, string> = {}): Promise<Answer> {
    // A paused agent is quoted a moment after its creator has made it active.
    await until('the agent is sold', async () => (await ask({ task })).status === 402);
    return pay({ task }, { by: payer, headers });
  }
  const debtOf = async ({ publicKey }: Keypair): Promise<bigint> => {
    const rows = await market.query('ledger', `SELECT lamports FROM debts WHERE wallet = '${publicKey.toBase58()}'`);
    return rows[0]?.lamports ?? 0n;
  };
  /** Buys, lets `then` happen before the payment is signed, and returns the answer with what it cost whom. */
  async function spoil(payer: Keypair, name: string, then: () => Promise<unknown>, headers = {}) {
    const task = stopAt('depositConfirmed:before', name);
    const before = await Promise.all([lamports(market.authority), lamports(feePayer)]);
    const answering = buy(payer, task, headers);
    await market.relay.untilStanding(task, answering);
    await then();
    market.relay.release(task);
    const { status, body } = await answering;
    const [row] = await market.query(
      'ledger',
      `SELECT state, lost_fees, listing_fees, deposit,
        (SELECT count(*) FROM transactions AS t WHERE t.execution_id = e.execution_id AND kind = 'pay') AS payments
        FROM executions AS e WHERE task = '${task}'`,
    );
    const after = await Promise.all([lamports(market.authority), lamports(feePayer)]);
    expect([before[0]! - after[0]!, before[1]! - after[1]!]).to.deep.equal([LOST, 0n]);
    expect([row.state, row.payments]).to.deep.equal(['void', 0n]);
    expect(await isGone(new PublicKey(row.deposit))).to.equal(true);
    const error = `${status} ${body.error.code}`;
    const { message, details } = body.error;
    const lost = { wallet: row.lost_fees as bigint, listing: row.listing_fees as bigint, debt: await debtOf(payer) };
    return { error, message, reason: details?.reason, ...lost };
  }

  it('count against the listing if its creator pauses it between deposit and payment', async () => {
    const payer = await rich();
    const wallet = keypairSigner(market.creator);
    const agentId = new PublicKey(market.agentId);
    const own = await openMarketplace({ baseUrl: market.relay.url, rpcUrl: market.node.rpcUrl });
    const pause = () => changeStatus(own, { wallet, agentId, status: 'paused' });
    expect(await spoil(payer, 'paused', pause)).to.deep.include({
      error: '422 agent_paused',
      // Nothing was paid, so nothing was refunded.
      message: 'The agent is paused',
      wallet: 0n,
      listing: LOST,
      debt: 0n,
    });
    expect(await usdcOf(payer)).to.equal(TOTAL);
    await changeStatus(own, { wallet, agentId, status: 'active' });
    expect((await buy(payer, 'active again')).status).to.equal(200);
    expect(await usdcOf(payer)).to.equal(0n);
  });

  it('are owed by the wallet if its payment expires at once, and by nobody if the deposit expired', async () => {
    const late = await rich();
    const none = { error: '402 payment_required', wallet: 0n, listing: 0n, debt: 0n };
    const after = async () => market.node.timeTravel((await market.node.now()) + 601);
    expect(await spoil(late, 'late', after)).to.deep.include(none);
    expect(await usdcOf(late)).to.equal(TOTAL);
    // The relay signs with a blockhash for seconds, and the leap has invalidated it.
    await until('the relay has a newer one', async () => (await buy(late, 'in time')).status === 200);
    const old = await rich();
    const message = 'The payment has expired. Nothing was paid.';
    const charged = { ...none, wallet: LOST, debt: LOST, reason: 'payment_failed', message };
    const headers = { 'idempotency-key': 'never-paid' };
    expect(await spoil(old, 'old', () => market.node.outlive(), headers)).to.deep.include(charged);
    expect(await usdcOf(old)).to.equal(TOTAL);
    const other = await rich();
    await until('the relay has a newer one', async () => (await buy(other, 'in time again')).status === 200);
    // As two minutes later. Its next call has the same id.
    await market.query('ledger', 'UPDATE debts SET lost_ms = 1');
    const twice = { ...charged, wallet: 2n * LOST, debt: 2n * LOST };
    expect(await spoil(old, 'old again', () => market.node.outlive(), headers)).to.deep.include(twice);
    const another = await rich();
    await until('the relay has a newer one', async () => (await buy(another, 'in time once more')).status === 200);
  });

  it('do not arise from a payment that expires while it waits for its turn: it is refused before its deposit', async () => {
    const payer = await rich(3n * TOTAL);
    const first = stopAt('paid:before', 'first of two');
    const paying = buy(payer, first);
    await market.relay.untilStanding(first, paying);
    let isTried = false;
    proxy.onCall(({ method }) => {
      if (method === 'simulateTransaction') isTried = true;
      return null;
    });
    // A wallet that has completed no call has one payment on its way.
    const waiting = buy(payer, 'second of two');
    await until('the second is tried', () => isTried);
    proxy.onCall(null);
    await market.node.outlive();
    const other = await rich();
    // Otherwise the first's open expires too, and is signed again a minute later.
    await until('the relay has a newer blockhash', async () => (await buy(other, 'meanwhile')).status === 200);
    market.relay.release(first);
    const { status, body } = await waiting;
    expect([status, body.error.details?.reason], JSON.stringify(body)).to.deep.equal([402, 'quote_expired']);
    expect((await paying).status).to.equal(200);
    expect([await usdcOf(payer), await debtOf(payer)]).to.deep.equal([2n * TOTAL, 0n]);
    expect((await market.executionsByTask()).has('second of two')).to.equal(false);
  });

  it('are no reason to refuse a payment whose money an earlier one only seems to hold: it waits until that is known', async () => {
    const payer = await rich(2n * TOTAL);
    const first = stopAt('paid:before', 'final, but not noted');
    const paying = buy(payer, first);
    await market.relay.untilStanding(first, paying);
    expect(await usdcOf(payer)).to.equal(TOTAL);
    let isTried = false;
    proxy.onCall(async ({ method }, forward) => {
      if (method !== 'simulateTransaction') return null;
      const json = await forward();
      isTried = true;
      return { json };
    });
    const second = buy(payer, 'beside it');
    await until('the second is tried', () => isTried);
    proxy.onCall(null);
    market.relay.release(first);
    const answers = await Promise.all([paying, second]);
    expect(answers.map(({ status, text }) => (status === 200 ? status : text))).to.deep.equal([200, 200]);
    expect(await usdcOf(payer)).to.equal(0n);
  });

  it('are owed by a wallet that moves its money away, and repaid out of the service fees of its next two calls', async () => {
    const payer = await rich(3n * TOTAL);
    await market.node.fundSol(payer.publicKey, 1e9);
    const source = findTokenAccount(payer.publicKey, market.usdcMint);
    const to = market.callers[1]!.usdc;
    const away = createTransferInstruction(source, to, payer.publicKey, 3n * TOTAL);
    const move = () => sendTransaction(market.node.connection, [away], keypairSigner(payer));
    const owing = { wallet: LOST, listing: 0n, debt: LOST };
    const charged = { error: '402 payment_required', reason: 'payment_failed', ...owing };
    expect(await spoil(payer, 'moved', move)).to.deep.include(charged);
    await market.mintTo(payer.publicKey, 3n * TOTAL);
    const early = await buy(payer, 'early');
    expect([early.status, early.body.error.code], early.text).to.deep.equal([503, 'service_unavailable']);
    expect(early.body.error.message).to.match(/^The wallet owes 10000 lamports of network fees/);
    // As two minutes later.
    await market.query('ledger', 'UPDATE debts SET lost_ms = 1');
    const repaid = 'SELECT CAST(sum(repaid_lamports) AS BIGINT) AS lamports FROM executions';
    const ofPayer = `${repaid} WHERE wallet = '${payer.publicKey.toBase58()}'`;
    const first = await buy(payer, 'first');
    expect(first.status, first.text).to.equal(200);
    const [{ lamports: part }] = await market.query('ledger', ofPayer);
    expect(part > 0n && part < LOST).to.equal(true);
    expect(await debtOf(payer)).to.equal(LOST - part);
    const second = await buy(payer, 'second');
    expect(second.status, second.text).to.equal(200);
    expect(await market.query('ledger', ofPayer)).to.deep.equal([{ lamports: LOST }]);
    expect(await debtOf(payer)).to.equal(0n);
    const third = await buy(payer, 'third');
    expect(third.status, third.text).to.equal(200);
    expect(await market.query('ledger', ofPayer)).to.deep.equal([{ lamports: LOST }]);
    expect(await usdcOf(payer)).to.equal(0n);
  });
});

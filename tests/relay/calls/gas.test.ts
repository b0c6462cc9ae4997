/**
 * Payment of fees and rent, on the real node. Checks each party's lamports and USDC to the base unit: for calls whose
 * record the operator lends, calls that pay for everything, and calls of an operator who gives.
 */
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { tailOf } from '../../../app/relay/calls/idempotency.ts';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { constants, findSpender } from '../../../app/sdk/program/program.ts';
import { requestHash } from '../../../app/sdk/receipt/receipt.ts';
import { type OpenByWalletOptions, openByWallet } from '../../../app/sdk/wallet/executions.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { type Funds, movedSince, readFunds, readRents } from '../../harness/node/funds.ts';
import { type Answer, FEE, failedAnswer, PRICE, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { useRelaysHere } from '../../harness/node/relayHere.ts';
import { stopAt } from '../../harness/node/standstill.ts';

/** Fees of the open, and of the end with its share of the archive, lamports. */
const [OPEN, END] = [5_000n, 5_700n];
/** Fees of two signatures. */
const FEES = 10_000n;
const SOL = 1_000_000_000;
const PAID = { callerUsdc: -PRICE, creatorUsdc: PRICE - FEE, treasuryUsdc: FEE };

describe('fees and refundable deposits', () => {
  let rents: { empty: bigint; record: bigint; escrow: bigint };
  const market = useMarketplace({ here: true });
  const start = useRelaysHere(market);
  before(async () => {
    rents = await readRents(market);
  });
  beforeEach(async () => {
    market.setBehaviour(null);
    await market.forgetExecutions();
    for (const { wallet } of market.callers) await market.node.fundSol(findSpender(wallet.publicKey), 0);
  });

  const startRelay = (settings: NodeJS.ProcessEnv = {}) => start(settings);
  const execute = (relay: { url: string }, caller = 0, body: object = { task: 'x' }): Promise<Answer> =>
    market.execute(relay.url, body, { caller });
  const fillGasBalance = (lamports: bigint | number, caller = 0) =>
    market.node.fundSol(findSpender(market.callers[caller]!.wallet.publicKey), Number(lamports));
  const funds = (caller = 0) => readFunds(market, caller);
  const fail = () => market.setBehaviour((body, _response, reply) => reply(failedAnswer(body.execution_id)));

  /** Runs an action and returns the changed balances with its answer. */
  async function moves(act: () => Promise<Answer>, caller = 0): Promise<{ moved: Partial<Funds>; answer: Answer }> {
    const before = await funds(caller);
    const answer = await act();
    return { answer, moved: movedSince(before, await funds(caller)) };
  }

  function refusedForGas(answer: Answer, have: bigint, need: bigint, caller = 0): void {
    expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([402, 'insufficient_balance']);
    const wallet = market.callers[caller]!.wallet.publicKey;
    expect(answer.body.error.details).to.deep.equal({
      limit: 'gas',
      wallet: wallet.toBase58(),
      gas_balance_address: findSpender(wallet).toBase58(),
      have_lamports: Number(have),
      need_lamports: Number(need),
    });
  }

  const open = (gasLamports: number, more: Partial<OpenByWalletOptions> = {}) =>
    openByWallet(market.marketplace, {
      wallet: keypairSigner(market.callers[0]!.wallet),
      agentId: new PublicKey(market.agentId),
      requestHash: requestHash('x'),
      gasLamports,
      ...more,
    });

  // First: a relay refuses new keys for a minute if its ledger lacks what relays of earlier tests have opened.
  it('are not mixed up when the wallet opens the id of a call of its key itself: it pays for the refused open, and still owes the rest', async () => {
    const settings = { SPONSOR: 'none', WITHOUT_INDEXER: '1', STANDSTILL: '1' };
    const relay = await market.startHere(settings);
    await fillGasBalance(SOL);
    expect((await execute(relay)).status).to.equal(200);
    await market.query('ledger', `UPDATE executions SET lost_fees = ${OPEN}, lost_ms = 1`);
    const task = stopAt('send-open:before');
    const call = market.execute(relay.url, { task }, { headers: { 'idempotency-key': 'taken' } });
    await relay.untilStanding(task, call);
    const before = await funds();
    const { execution_id } = await open(0, { requestHash: requestHash(task), nonceTail: tailOf('taken') });
    relay.release(task);
    const answer = await call;
    expect([answer.status, answer.body.error.execution_id], answer.text).to.deep.equal([503, execution_id]);
    const { wallet, ...moved } = movedSince(before, await funds());
    expect(moved).to.deep.equal({ callerUsdc: -PRICE, authority: -OPEN });
    expect(await market.query('ledger', 'SELECT lamports FROM debts')).to.deep.equal([{ lamports: 2n * OPEN }]);
    const started = await request(relay.url, `/v1/executions/${execution_id}/start`, {
      apiKey: market.callers[0]!.apiKey,
      body: { task },
    });
    expect(started.body.error.details).to.deep.equal({ reason: 'gas', have_lamports: 0, need_lamports: Number(END) });
    await market.query('ledger', 'DELETE FROM debts');
    await relay.kill();
  });

  for (const fails of [false, true]) {
    it(`takes all fees of a ${fails ? 'refunded' : 'paid'} call from the gas balance, which lends the escrow; the operator lends the record`, async () => {
      const relay = await startRelay();
      await fillGasBalance(SOL);
      if (fails) fail();
      const { moved, answer } = await moves(() => execute(relay));
      expect(answer.status).to.equal(fails ? 500 : 200);
      const paid = fails ? {} : PAID;
      // The relay keeps the share of the archive.
      expect(moved).to.deep.equal({ ...paid, authority: OPEN + END - FEES - rents.record, gasBalance: -OPEN - END });
      const id = answer.body.execution_id ?? answer.body.error.execution_id;
      const record = (await market.record(id))!;
      expect([record.gasLamports, record.rentSponsor.toBase58()]).to.deep.equal([
        Number(END),
        market.authority.publicKey.toBase58(),
      ]);
      expect(record.spenderBump).to.be.greaterThan(0);
    });
  }

  it('comes from the gas balance alone once the operator can lend no more, and says so if that cannot lend either', async () => {
    // Three quarters of it are one record.
    const relay = await startRelay({ LENT_LAMPORTS: String((rents.record * 4n) / 3n + 1n) });
    await fillGasBalance(SOL);
    expect((await moves(() => execute(relay))).moved).to.include({ gasBalance: -OPEN - END });
    const { moved, answer } = await moves(() => execute(relay));
    expect(answer.status).to.equal(200);
    expect(moved).to.deep.equal({ ...PAID, authority: OPEN + END - FEES, gasBalance: -OPEN - END - rents.record });
    const gasBalance = findSpender(market.callers[0]!.wallet.publicKey).toBase58();
    expect((await market.record(answer.body.execution_id))!.rentSponsor.toBase58()).to.equal(gasBalance);

    await fillGasBalance(OPEN + END + rents.escrow + rents.empty);
    const refused = await moves(() => execute(relay));
    expect([refused.answer.status, refused.answer.body.error.code]).to.deep.equal([503, 'service_unavailable']);
    expect(refused.answer.body.error.message).to.match(
      /calls with keys at a time\. It has lent \d+, and this call needs \d+/,
    );
    const retryAfter = Number(refused.answer.headers.get('retry-after'));
    // The archive waits ten minutes for more records, and returned deposits are counted once a minute.
    const most = constants.recordSecondsMin + 600 + 60;
    expect(retryAfter).to.be.within(most - 300, most);
    expect(refused.moved).to.deep.equal({});
  });

  it('rejects: a gas balance that would fall below the rent-exempt minimum, or cannot lend', async () => {
    const lending = await startRelay();
    const whole = OPEN + END + rents.escrow;
    const enough = whole + rents.empty;
    await fillGasBalance(enough - 1n);
    const short = await moves(() => execute(lending));
    refusedForGas(short.answer, enough - 1n, enough);
    expect(short.answer.body.error.message).to.match(/enough for no call.* SOL more it is enough for \d+ calls/);
    expect(short.moved).to.deep.equal({});
    await fillGasBalance(enough);
    expect((await execute(lending)).status).to.equal(200);
    // The whole gas balance is enough too: the escrow's rent comes back into it.
    await fillGasBalance(whole);
    const last = await moves(() => execute(lending));
    expect(last.answer.status, last.answer.text).to.equal(200);
    expect(last.moved).to.include({ ...PAID, gasBalance: -OPEN - END });
  });

  it('is given by an operator who sponsors all, after what the gas balance can pay', async () => {
    const relay = await startRelay({ SPONSOR: 'all' });
    expect((await moves(() => execute(relay))).moved).to.deep.equal({ ...PAID, authority: -FEES - rents.record });
    await fillGasBalance(SOL);
    expect((await moves(() => execute(relay))).moved).to.include({
      authority: OPEN + END - FEES - rents.record,
      gasBalance: -OPEN - END,
    });
    const none = await startRelay({ SPONSOR: 'all', LENT_LAMPORTS: '0' });
    expect((await moves(() => execute(none))).moved).to.include({ authority: OPEN + END - FEES });
    await fillGasBalance(0);
    const { answer, moved } = await moves(() => execute(none));
    expect(answer.status, answer.text).to.equal(503);
    expect(moved).to.deep.equal({});
  });

  describe('an execution that its wallet opened itself', () => {
    const startCall = (relay: RunningRelay, id: string) =>
      request(relay.url, `/v1/executions/${id}/start`, {
        apiKey: market.callers[0]!.apiKey,
        body: { task: 'x' },
      });

    it('pays for its own settle', async () => {
      const relay = await startRelay();
      const { execution_id } = await open(Number(END));
      const { moved, answer } = await moves(() => startCall(relay, execution_id));
      expect(answer.status, answer.text).to.equal(200);
      // The price is in escrow already, and its rent goes back to the wallet that lent it.
      expect(moved).to.deep.equal({
        creatorUsdc: PRICE - FEE,
        treasuryUsdc: FEE,
        wallet: rents.escrow,
        authority: END - OPEN,
      });
    });

    it('rejects: a record that holds too little gas, unless the operator gives the rest', async () => {
      const relay = await startRelay();
      const { execution_id } = await open(5_699);
      const { moved, answer } = await moves(() => startCall(relay, execution_id));
      expect([answer.status, answer.body.error.code]).to.deep.equal([409, 'not_startable']);
      const details = { reason: 'gas', have_lamports: 5_699, need_lamports: 5_700 };
      expect(answer.body.error.details).to.deep.equal(details);
      expect(moved).to.deep.equal({});
      const sponsor = await startRelay({ SPONSOR: 'all' });
      const sponsored = await moves(() => startCall(sponsor, execution_id));
      expect(sponsored.answer.status, sponsored.answer.text).to.equal(200);
      expect(sponsored.moved).to.include({ authority: 5_699n - OPEN });
    });
  });
});

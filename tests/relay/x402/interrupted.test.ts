/**
 * Interrupted payments of x402 clients: the relay is down until its signed bytes have expired, or the chain drops the
 * fork with the payment. Each call is served and paid once, or its payer gets everything back.
 */
import { createAssociatedTokenAccountInstruction, createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import { findExecution, findTokenAccount, findTreasury } from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { changeStatus } from '../../../app/sdk/wallet/upkeep.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  FEE,
  PRICE,
  type RelayHandle,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { stopAt } from '../../harness/node/standstill.ts';
import { type Accepted, decodeHeader, makePayment, paymentHeader } from '../../harness/node/x402.ts';

const SERVICE_FEE = 5_000n;
const TOTAL = PRICE + SERVICE_FEE;
const SIGNATURE_LAMPORTS = 5_000;
/** Lamports of a payment: two signatures, and its client's priority fee rounded up. */
const PAYMENT_LAMPORTS = 10_001;
/** Lifetime of a deposit, in seconds. */
const DEPOSIT_SECONDS = 600;

interface Bought {
  task: string;
  payer: Keypair;
  deposit: PublicKey;
  /** Sends the same payment again. */
  ask(relay: RelayHandle): Promise<Answer>;
}

describe('payments of x402 clients that are interrupted', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  let relay: RelayHandle;
  const feePayer = Keypair.generate();

  before(async () => {
    // Slow slots: a fork must be dropped before it is final, and 31 slots are 22 s.
    market = await startMarketplace({ slotTimeMs: 700, finalitySlots: 31, feePayer });
    await market.relay.kill();
  });
  after(() => market.stop());
  afterEach(() => relay.kill());

  const path = () => `/v1/x402/agents/${market.agentId}/execute`;
  const usdcOf = (owner: PublicKey) => market.amountOf(findTokenAccount(owner, market.usdcMint));
  const lamports = (address: PublicKey) => market.node.connection.getBalance(address, 'confirmed');
  const outlive = () => market.node.outlive();
  const balances = async () => ({
    creator: await market.amountOf(market.creatorUsdc),
    treasury: await market.amountOf(findTreasury()),
    relay: await lamports(market.authority.publicKey),
    feePayer: await lamports(feePayer.publicKey),
  });
  const isGone = async ({ deposit }: Bought) => {
    const addresses = [deposit, findTokenAccount(deposit, market.usdcMint)];
    const accounts = await market.node.connection.getMultipleAccountsInfo(addresses, 'confirmed');
    return accounts.every((account) => account === null);
  };
  const areFinal = async () => (await market.journal()).every(({ is_final }) => is_final === 1n);

  function payFor(task: string, payer: Keypair, accepted: Accepted): Bought {
    const headers = { 'payment-signature': paymentHeader(accepted, makePayment(accepted, payer)) };
    const ask = ({ url }: RelayHandle) => request(url, path(), { body: { task }, headers });
    return { task, payer, deposit: new PublicKey(accepted.payTo), ask };
  }
  async function prepare(task: string): Promise<Bought> {
    const payer = Keypair.generate();
    await market.mintTo(payer.publicKey, TOTAL);
    const quoted = await request(relay.url, path(), { body: { task } });
    return payFor(task, payer, decodeHeader(quoted, 'payment-required').accepts[0]);
  }
  const untilStanding = (bought: Bought[]) =>
    until('all stand', async () => bought.every(({ task }) => relay.standing.has(task)));

  /** Pays for calls that stop at these points, and kills the relay there. */
  async function killAt(points: string[]): Promise<Bought[]> {
    relay = await market.startRelayProcess({ STANDSTILL: '1' });
    const bought: Bought[] = [];
    for (const point of points) bought.push(await prepare(stopAt(point, `killed ${market.calls.size}`)));
    const calls = bought.map(({ ask }) => ask(relay).catch(() => undefined));
    await untilStanding(bought);
    await relay.kill();
    await Promise.all(calls);
    return bought;
  }
  /** The final answer to a payment, by repeating it as its client would. */
  async function endOf({ ask }: Bought): Promise<Answer> {
    let answer: Answer | undefined;
    await until('it has ended', async () => {
      answer = await ask(relay);
      return answer.status !== 202 && answer.status !== 409;
    });
    return answer!;
  }

  it('opens a paid deposit again whose open expired while the relay was down, and serves the call once', async () => {
    const before = await balances();
    const bought = await killAt(['openSigned:after', 'send-open:before']);
    await outlive();
    relay = await market.startRelayProcess();
    for (const one of bought) {
      const answer = await endOf(one);
      expect([answer.status, answer.body.result], answer.text).to.deep.equal([200, `done: ${one.task}`]);
      expect(decodeHeader(answer, 'payment-response')).to.include({ success: true, amount: String(TOTAL) });
      expect(market.calls.get(answer.body.execution_id)).to.equal(1);
      expect(await usdcOf(one.payer.publicKey)).to.equal(0n);
      expect(await isGone(one)).to.equal(true);
    }
    const after = await balances();
    expect(after.creator - before.creator).to.equal(2n * (PRICE - FEE));
    expect(after.treasury - before.treasury).to.equal(2n * (FEE + SERVICE_FEE));
    expect(after.feePayer - before.feePayer).to.equal(-2 * PAYMENT_LAMPORTS);
  });

  it('gives price and service fee back if the deposit expired while the relay was down', async () => {
    const before = await balances();
    const bought = await killAt(['paid:after', 'openSigned:after']);
    const ended = (await market.node.now()) + DEPOSIT_SECONDS;
    await outlive();
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
      const answer = await endOf(one);
      expect([answer.status, answer.body.error?.code], answer.text).to.deep.equal([503, 'service_unavailable']);
      expect(answer.body.error.message).to.match(/expired before .* The payment was sent back\.$/);
      const receipt = decodeHeader(answer, 'payment-response');
      expect(receipt).to.include({ success: false, errorReason: 'refunded', amount: String(TOTAL) });
      expect(receipt.extensions.execution.refund_transaction).to.be.a('string');
      expect((await endOf(one)).text).to.equal(answer.text);
      expect(await usdcOf(one.payer.publicKey)).to.equal(TOTAL);
      expect(await isGone(one)).to.equal(true);
    }
    // The operator has lost the fees of deposit and return, with two signatures, and of the payment.
    expect(await balances()).to.deep.equal({
      ...before,
      relay: before.relay - 2 * (1 + 2) * SIGNATURE_LAMPORTS,
      feePayer: before.feePayer - 2 * PAYMENT_LAMPORTS,
    });
  });

  it('sends a deposit back again whose return is dropped with its fork, and takes the service fee once', async () => {
    relay = await market.startRelayProcess({ STANDSTILL: '1' });
    const before = await balances();
    const one = await prepare(stopAt('paid:after', 'return dropped'));
    const call = one.ask(relay);
    await untilStanding([one]);
    const agent = { wallet: keypairSigner(market.creator), agentId: new PublicKey(market.agentId) };
    await changeStatus(market.marketplace, { ...agent, status: 'paused' });
    const fork = await market.node.connection.getSlot('confirmed');
    relay.process.send({ release: one.task });
    const answer = await call;
    expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([422, 'agent_paused']);
    expect([await usdcOf(one.payer.publicKey), await isGone(one)]).to.deep.equal([PRICE, true]);
    await market.node.rpc('surfnet_rollBack', [fork]);
    expect([await usdcOf(one.payer.publicKey), await isGone(one)]).to.deep.equal([0n, false]);
    await outlive();
    // The relay looks every ten seconds if the ends of calls are final.
    await until('it is sent back again', () => isGone(one), 120_000);
    expect((await endOf(one)).body.error.code).to.equal('agent_paused');
    expect(await usdcOf(one.payer.publicKey)).to.equal(PRICE);
    const { creator, treasury } = await balances();
    expect([creator, treasury]).to.deep.equal([before.creator, before.treasury + SERVICE_FEE]);
    await changeStatus(market.marketplace, { ...agent, status: 'active' });
    await outlive();
    await until('the chain can take back none of all calls', areFinal);
  });

  it('charges nothing for a call whose deposit and payment are dropped with their fork during an outage', async () => {
    relay = await market.startRelayProcess({ STANDSTILL: '1' });
    const one = await prepare(stopAt('paid:after', 'dropped while down'));
    const before = await balances();
    const fork = await market.node.connection.getSlot('confirmed');
    const call = one.ask(relay).catch(() => undefined);
    await untilStanding([one]);
    await relay.kill();
    await call;
    await market.node.rpc('surfnet_rollBack', [fork]);
    await outlive();
    relay = await market.startRelayProcess();
    const answer = await endOf(one);
    expect([answer.status, answer.body.error.details.reason], answer.text).to.deep.equal([402, 'quote_expired']);
    const rows = await market.query('ledger', `SELECT state FROM executions WHERE task = '${one.task}'`);
    expect(rows).to.deep.equal([{ state: 'void' }]);
    expect(await usdcOf(one.payer.publicKey)).to.equal(TOTAL);
    expect(await isGone(one)).to.equal(true);
    expect(await balances()).to.deep.equal(before);
  });

  it('opens nothing from a payment dropped with its fork, and charges the payers who can still pay once', async () => {
    const { connection } = market.node;
    relay = await market.startRelayProcess({ STANDSTILL: '1' });
    const before = await balances();
    const points = ['paid:after', 'send-open:after', 'paid:after', 'openSigned:after'];
    const bought: Bought[] = [];
    for (const [n, point] of points.entries()) bought.push(await prepare(stopAt(point, `dropped ${n}`)));
    const [honest, opened, ...spenders] = bought as [Bought, Bought, Bought, Bought];
    for (const { payer } of spenders) await market.node.fundSol(payer.publicKey, 1e9);
    const fork = await connection.getSlot('confirmed');
    const calls = bought.map(({ ask }) => ask(relay));
    await untilStanding(bought);
    for (const { payer } of bought) expect(await usdcOf(payer.publicKey)).to.equal(0n);
    await market.node.rpc('surfnet_rollBack', [fork]);

    // On the surviving fork nobody has paid, and two of the payers spend the money elsewhere.
    const elsewhere = Keypair.generate().publicKey;
    const target = findTokenAccount(elsewhere, market.usdcMint);
    for (const [n, { payer }] of spenders.entries()) {
      const owner = payer.publicKey;
      const transfer = createTransferInstruction(findTokenAccount(owner, market.usdcMint), target, owner, TOTAL);
      const create = createAssociatedTokenAccountInstruction(owner, target, elsewhere, market.usdcMint);
      await sendTransaction(connection, n === 0 ? [create, transfer] : [transfer], keypairSigner(payer));
    }
    for (const one of bought) expect(await isGone(one)).to.equal(true);
    for (const { task } of bought) relay.process.send({ release: task });

    const served = await Promise.all([calls[0]!, calls[1]!]);
    for (const [n, one] of [honest, opened].entries()) {
      expect([served[n]!.status, served[n]!.body.result], served[n]!.text).to.deep.equal([200, `done: ${one.task}`]);
    }
    await outlive();
    const refused = await Promise.all([calls[2]!, calls[3]!]);
    for (const answer of refused) {
      const { status, body, headers } = answer;
      expect([status, body.error.code, body.error.details.reason], answer.text).to.deep.equal([
        402,
        'payment_required',
        'payment_failed',
      ]);
      expect(body.error.message).to.equal('The chain rolled back the payment. Nothing was paid.');
      expect(headers.get('payment-response')).to.equal(null);
    }
    // The old payment is refused with a new quote, and that one sells the call.
    const late = spenders[0]!;
    expect((await late.ask(relay)).body.error.details.reason).to.be.oneOf(['quote_expired', 'quote_used']);
    await market.mintTo(late.payer.publicKey, TOTAL);
    const again = payFor(late.task, late.payer, decodeHeader(refused[0]!, 'payment-required').accepts[0]);
    const sold = await endOf(again);
    expect([sold.status, sold.body.result], sold.text).to.deep.equal([200, `done: ${late.task}`]);

    const ids = [...served, sold].map(({ body }) => body.execution_id);
    for (const id of ids) expect(market.calls.get(id)).to.equal(1);
    for (const { payer } of bought) expect(await usdcOf(payer.publicKey)).to.equal(0n);
    expect(await usdcOf(elsewhere)).to.equal(2n * TOTAL);
    for (const one of [...bought, again]) expect(await isGone(one)).to.equal(true);
    const after = await balances();
    expect(after.creator - before.creator).to.equal(3n * (PRICE - FEE));
    expect(after.treasury - before.treasury).to.equal(3n * (FEE + SERVICE_FEE));

    // The operator has spent only fees, and the rent of the three records.
    const spent = { [`${market.authority.publicKey}`]: 0, [`${feePayer.publicKey}`]: 0 };
    for (const address of Object.keys(spent)) {
      for (const { signature, slot } of await connection.getSignaturesForAddress(
        new PublicKey(address),
        {},
        'confirmed',
      )) {
        if (slot <= fork) continue;
        const found = await connection.getTransaction(signature, {
          commitment: 'confirmed',
          maxSupportedTransactionVersion: 0,
        });
        const payer = found!.transaction.message.staticAccountKeys[0]!.toBase58();
        if (payer === address) spent[address]! += found!.meta!.fee;
      }
    }
    let rent = 0;
    for (const id of ids) rent += await lamports(findExecution(parseUuid(id)!));
    expect(before.relay - after.relay - rent).to.equal(spent[`${market.authority.publicKey}`]);
    expect(before.feePayer - after.feePayer).to.equal(spent[`${feePayer.publicKey}`]);

    // Includes the calls of earlier tests. This check runs only every ten seconds.
    await outlive();
    await until('the chain can take back none of all calls', areFinal);
    const known = (subject: string) => market.query('index', subject);
    await until('the index shows the fork that lasts', async () => {
      const kept = await known('SELECT deposit FROM deposits WHERE closed = 0');
      const rows = await known(`SELECT execution_id FROM executions WHERE status = 'completed'`);
      return kept.length === 0 && ids.every((id) => rows.some((row) => row.execution_id === id));
    });
    const opens = await known('SELECT deposit FROM executions');
    for (const { deposit } of spenders) {
      expect(opens.some((row) => row.deposit === deposit.toBase58())).to.equal(false);
    }
  });

  // The last test: its deposit stays on the chain.
  it('ends a call as returned whose deposit stays because its rent sponsor cannot take the rent', async () => {
    const sponsor = Keypair.generate().publicKey.toBase58();
    relay = await market.startRelayProcess({ STANDSTILL: '1', RENT_RETURN_ADDRESS: sponsor });
    const before = await balances();
    const one = await prepare(stopAt('paid:after', 'deposit stays'));
    const call = one.ask(relay).catch(() => undefined);
    await untilStanding([one]);
    // Far below the rent of so many bytes, even with the rent of the deposit.
    const poor = { lamports: 1_000_000, data: '00'.repeat(200_000), owner: SystemProgram.programId.toBase58() };
    await market.node.rpc('surfnet_setAccount', [sponsor, poor]);
    relay.process.send({ release: one.task, nextStop: 'send-return:after' });
    await until('its return has landed', () => relay.standing.has(`${one.task} at send-return:after`));
    await relay.kill();
    await call;
    relay = await market.startRelayProcess();
    await outlive();
    const answer = await endOf(one);
    expect([answer.status, answer.body.error?.code], answer.text).to.deep.equal([503, 'service_unavailable']);
    const receipt = decodeHeader(answer, 'payment-response');
    expect(receipt).to.include({ success: false, errorReason: 'refunded', amount: String(TOTAL) });
    const expected = { left: PRICE, vault: 0n, isGone: false };
    const found = async () => ({
      left: await usdcOf(one.payer.publicKey),
      vault: await usdcOf(one.deposit),
      isGone: await isGone(one),
    });
    expect(await found()).to.deep.equal(expected);
    const { creator, treasury, feePayer: sol } = await balances();
    expect([creator, treasury, sol]).to.deep.equal([
      before.creator,
      before.treasury + SERVICE_FEE,
      before.feePayer - PAYMENT_LAMPORTS,
    ]);
    // At finality, the deposit that stays does not take the end back.
    await outlive();
    await until('the chain can take back none of all calls', areFinal);
    const rows = await market.query('ledger', `SELECT state FROM executions WHERE task = '${one.task}'`);
    expect(rows).to.deep.equal([{ state: 'returned' }]);
    expect((await endOf(one)).text).to.equal(answer.text);
    expect(await found()).to.deep.equal(expected);
  });
});

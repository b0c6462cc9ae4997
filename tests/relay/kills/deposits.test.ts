/**
 * The kill matrix of calls that x402 clients pay for: a real relay process is killed while they stand at every move of a
 * deposit, and at every transaction of it. Another relay on the ledger, or the same one again, goes on. Whatever the
 * moment, each payer has paid once and has its result, or has its money back; and no deposit is left.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import { findEscrow, findExecution, findTokenAccount, findTreasury } from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { changeStatus } from '../../../app/sdk/wallet/upkeep.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  FEE,
  goodAnswer,
  PRICE,
  type RelayHandle,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { stopAt } from '../../harness/node/standstill.ts';
import { decodeHeader, makePayment, paymentHeader } from '../../harness/node/x402.ts';

const SERVICE_FEE = 5_000n;
const TOTAL = PRICE + SERVICE_FEE;
const RETRY_MS = 250;
/** Slots that a blockhash lives. */
const BLOCKHASH_SLOTS = 150;

const sidesOf = (moves: string[]) => moves.flatMap((move) => [`${move}:before`, `${move}:after`]);
const sendsOf = (name: string) => ['before', 'sent', 'after'].map((side) => `send-${name}:${side}`);
/** The payment was not sent. If its blockhash expires before a relay goes on, it is never charged. */
const UNPAID = [
  ...sidesOf(['claimDeposit', 'depositSigned']),
  ...sendsOf('deposit'),
  ...sidesOf(['depositConfirmed', 'paySigned']),
  'send-pay:before',
];
const PAYING = [...UNPAID, 'send-pay:sent', 'send-pay:after', 'paid:before'];
const POINTS = {
  completed: [...PAYING, 'paid:after', ...sidesOf(['openSigned', 'openConfirmed', 'settled']), ...sendsOf('open')],
  /** The creator pauses the agent once the money is in the deposit. */
  returned: ['paid:after', ...sidesOf(['returning', 'returned']), ...sendsOf('return')],
};

interface Bought {
  task: string;
  payer: Keypair;
  deposit: PublicKey;
  /** Sends the same payment again. */
  ask(relay: RelayHandle): Promise<Answer>;
}

describe('kill -9 of a relay that holds deposits', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  const feePayer = Keypair.generate();

  before(async () => {
    market = await startMarketplace({ slotTimeMs: 150, feePayer });
    await market.relay.kill();
    market.setBehaviour((body, _response, reply) =>
      reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`)),
    );
  });
  after(() => market.stop());

  const relays: RelayHandle[] = [];
  async function start(...environment: Parameters<TestMarketplace['startRelayProcess']>): Promise<RelayHandle> {
    const relay = await market.startRelayProcess(...environment);
    relays.push(relay);
    return relay;
  }
  // A relay of a failed test would serve the next one.
  afterEach(async () => {
    for (const relay of relays.splice(0)) await relay.kill();
  });

  /** Pays as its client does, which repeats a payment that the busy relay did not take. */
  async function pay(relay: RelayHandle, { ask }: Bought): Promise<void> {
    for (;;) {
      const answer = await ask(relay).catch(() => null);
      if (answer?.status !== 503) return;
      await sleep(RETRY_MS);
    }
  }

  const path = () => `/v1/x402/agents/${market.agentId}/execute`;
  const usdcOf = (owner: PublicKey) => market.amountOf(findTokenAccount(owner, market.usdcMint));

  async function prepare(relay: RelayHandle, task: string): Promise<Bought> {
    const payer = Keypair.generate();
    await market.mintTo(payer.publicKey, TOTAL);
    const quoted = await request(relay.url, path(), { body: { task } });
    const [accepted] = decodeHeader(quoted, 'payment-required').accepts;
    const headers = { 'payment-signature': paymentHeader(accepted, makePayment(accepted, payer)) };
    const ask = ({ url }: RelayHandle) => request(url, path(), { body: { task }, headers });
    return { task, payer, deposit: new PublicKey(accepted.payTo), ask };
  }

  async function setStatus(status: 'active' | 'paused', relay: RelayHandle): Promise<void> {
    const creator = keypairSigner(market.creator);
    await changeStatus(market.marketplace, { wallet: creator, agentId: new PublicKey(market.agentId), status });
    const known = status === 'active' ? 402 : 422;
    const ask = () => request(relay.url, path(), { body: { task: 'known?' } });
    await until(`the agent is ${status}`, async () => (await ask()).status === known);
  }

  /** How each payer's call ended, by repeating its payment as its client would. */
  async function endOf(relay: RelayHandle, { ask }: Bought): Promise<Answer> {
    let answer: Answer | undefined;
    await until('it has ended', async () => {
      answer = await ask(relay);
      const isOpen = answer.status === 202 || answer.status === 409;
      return !isOpen;
    });
    return answer!;
  }

  async function areFinal(bought: Bought[]): Promise<boolean> {
    const ids = await market.executionsByTask();
    const final = new Map((await market.journal()).map((row) => [row.execution_id, row.is_final]));
    // A call that was killed before its row is in no journal.
    return bought.every(({ task }) => !ids.has(task) || final.get(ids.get(task)!) === 1n);
  }

  for (const mode of ['started again', 'taken over'] as const) {
    it(`completes every call, or never charges for it, and leaves no deposit (${mode})`, async () => {
      const isTakenOver = mode === 'taken over';
      const doomed = await start({ STANDSTILL: '1', ...(isTakenOver && { WITHOUT_INDEXER: '1' }) });
      const neighbour = isTakenOver ? await start() : null;
      const tasks = POINTS.completed.map((point) => stopAt(point, mode));
      const bought: Bought[] = [];
      for (const task of tasks) bought.push(await prepare(doomed, task));
      const before = {
        creator: await market.amountOf(market.creatorUsdc),
        treasury: await market.amountOf(findTreasury()),
      };
      const calls = bought.map((one) => pay(doomed, one));
      await until('all stand', async () => tasks.every((task) => doomed.standing.has(task)));
      await doomed.kill();
      await Promise.all(calls);
      const relay = neighbour ?? (await start());
      const found: Record<string, string> = {};
      let paid = 0n;
      for (const [n, one] of bought.entries()) {
        const point = POINTS.completed[n]!;
        const answer = await endOf(relay, one);
        const left = await usdcOf(one.payer.publicKey);
        found[point] = `${answer.status}, ${TOTAL - left} paid`;
        paid += TOTAL - left;
        if (answer.status === 200) expect(answer.body.result, point).to.equal(`done: ${one.task}`);
        expect(await market.node.connection.getAccountInfo(one.deposit, 'confirmed'), point).to.equal(null);
      }
      const [done, never] = [`200, ${TOTAL} paid`, '402, 0 paid'];
      const expected = POINTS.completed.map((point) => {
        const isLate = UNPAID.includes(point) && found[point] === never;
        return [point, isLate ? never : done];
      });
      expect(found).to.deep.equal(Object.fromEntries(expected));
      const sold = BigInt(POINTS.completed.filter((point) => found[point] === done).length);
      expect(paid).to.equal(TOTAL * sold);
      expect((await market.amountOf(market.creatorUsdc)) - before.creator).to.equal((PRICE - FEE) * sold);
      expect((await market.amountOf(findTreasury())) - before.treasury).to.equal((FEE + SERVICE_FEE) * sold);
      await until('the chain can take back none of it', () => areFinal(bought));
      await relay.kill();
    });

    it(`returns what cannot be served any more, whole and once (${mode})`, async () => {
      const isTakenOver = mode === 'taken over';
      const doomed = await start({ STANDSTILL: '1', ...(isTakenOver && { WITHOUT_INDEXER: '1' }) });
      const neighbour = isTakenOver ? await start() : null;
      // All of them stand once the money is in; then the creator pauses the agent, and they go on to where they die.
      const gates = POINTS.returned.map((point) => `${stopAt('paid:after', point)} ${mode}`);
      const bought: Bought[] = [];
      for (const task of gates) bought.push(await prepare(doomed, task));
      const calls = bought.map((one) => pay(doomed, one));
      await until('all have paid', async () => gates.every((task) => doomed.standing.has(task)));
      await setStatus('paused', doomed);
      for (const [n, task] of gates.entries()) {
        if (POINTS.returned[n] !== 'paid:after') doomed.process.send({ release: task, nextStop: POINTS.returned[n] });
      }
      await until('all stand', async () =>
        gates.every(
          (task, n) => POINTS.returned[n] === 'paid:after' || doomed.standing.has(`${task} at ${POINTS.returned[n]}`),
        ),
      );
      await doomed.kill();
      await Promise.all(calls);
      const relay = neighbour ?? (await start());
      for (const [n, one] of bought.entries()) {
        const point = POINTS.returned[n]!;
        const answer = await endOf(relay, one);
        expect([answer.status, answer.body.error?.code], point).to.deep.equal([422, 'agent_paused']);
        expect(decodeHeader(answer, 'payment-response'), point).to.include({ success: false, amount: String(TOTAL) });
        expect(await usdcOf(one.payer.publicKey), point).to.equal(PRICE);
        expect(await market.node.connection.getAccountInfo(one.deposit, 'confirmed'), point).to.equal(null);
      }
      await setStatus('active', relay);
      await until('the chain can take back none of it', () => areFinal(bought));
      await relay.kill();
    });
  }

  it('opens a deposit again whose open the chain rolled back, calls the creator once, and charges once', async () => {
    const doomed = await start({ STANDSTILL: '1' });
    const task = stopAt('paid:after', 'rolled back');
    const one = await prepare(doomed, task);
    const call = pay(doomed, one);
    await until('it has paid', async () => doomed.standing.has(task));
    const id = (await market.executionsByTask()).get(task)!;
    const record = findExecution(parseUuid(id)!);
    const vault = findTokenAccount(one.deposit, market.usdcMint);
    const addresses = [one.deposit, vault, findTreasury(), record, findEscrow(record)];
    const { connection } = market.node;
    const then = await connection.getMultipleAccountsInfo(addresses, 'confirmed');
    doomed.process.send({ release: task, nextStop: 'verified:after' });
    await until('it has a result', async () => doomed.standing.has(`${task} at verified:after`));
    for (const [n, address] of addresses.entries()) {
      const { lamports, data, owner } = then[n] ?? { lamports: 0, data: '', owner: SystemProgram.programId };
      const account = { lamports, data: Buffer.from(data).toString('hex'), owner: owner.toBase58() };
      await market.node.rpc('surfnet_setAccount', [address.toBase58(), account]);
    }
    await doomed.kill();
    await call;
    const last = (await connection.getBlockHeight('confirmed')) + BLOCKHASH_SLOTS;
    await until('the blockhash expires', async () => (await connection.getBlockHeight('finalized')) > last, 120_000);
    const relay = await start();
    const answer = await endOf(relay, one);
    expect([answer.status, answer.body.result], answer.text).to.deep.equal([200, `done: ${task}`]);
    expect(market.calls.get(id)).to.equal(1);
    expect(await usdcOf(one.payer.publicKey)).to.equal(0n);
    expect((await market.record(id))?.status).to.equal('completed');
    expect(await connection.getAccountInfo(one.deposit, 'confirmed')).to.equal(null);
    await relay.kill();
  });
});

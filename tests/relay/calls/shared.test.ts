/** Calls that are ready in the same moment share a transaction, on the real node: fees, balances and poisoned parts. */
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import { ARCHIVE_SHARE } from '../../../app/relay/chain/fees.ts';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { createClient } from '../../../app/sdk/client/client.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import { findSpender, findTokenAccount } from '../../../app/sdk/program/program.ts';
import { verifyReceipt } from '../../../app/sdk/receipt/verify.ts';
import type { Receipt } from '../../../app/sdk/wire/receipt.ts';
import { until } from '../../harness/edge/until.ts';
import { readRents } from '../../harness/node/funds.ts';
import {
  type Answer,
  FEE,
  failedAnswer,
  figuresOf,
  goodAnswer,
  PRICE,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { type Kind, useRpcProxy } from '../../harness/node/rpcProxy.ts';
import { isVersionOne, readShared, SIGNATURE_LAMPORTS, spoilShared } from '../../harness/node/sharedTransactions.ts';
import { stopAt } from '../../harness/node/standstill.ts';

const signaturesIn = (base64: string): number[] =>
  VersionedTransaction.deserialize(Buffer.from(base64, 'base64')).signatures.flatMap((one) => [...one]);

/** Calls at once: more than one transaction holds. */
const CALLS = 16;

describe('transactions that calls share', function () {
  this.timeout(300_000);
  let shared: ReturnType<typeof readShared>;
  const market = useMarketplace();
  before(async () => {
    shared = readShared(market);
    await execute('the first');
    await untilPaid(0);
  });

  const execute = (task: string, url = market.relay.url, agent = market.agentId, caller = 0): Promise<Answer> =>
    market.execute(url, { task }, { agent, caller });
  /** Only wallets that have paid share, by the index. */
  const untilPaid = (caller: number) =>
    until('the index knows that the wallet has paid', async () => {
      const wallet = market.callers[caller]!.wallet.publicKey.toBase58();
      const paid = `SELECT record FROM executions WHERE status = 'completed' AND caller = '${wallet}'`;
      return (await market.query('index', paid)).length > 0;
    });
  const lamports = async (account = market.authority.publicKey) =>
    BigInt(await market.node.connection.getBalance(account, 'confirmed'));

  type Answering = (id: string, task: string) => object;
  const done: Answering = (id, task) => goodAnswer(market.signingKey, id, `done: ${task}`);
  const failing: Answering = (id) => failedAnswer(id);
  /** Answers that come once all of these calls have reached the creator. */
  function answerTogether(count: number, answerOf: Answering = done): void {
    const held: (() => void)[] = [];
    market.setBehaviour(({ execution_id, task }, _response, reply) => {
      held.push(() => reply(answerOf(execution_id, task)));
      if (held.length === count) for (const answer of held) answer();
    });
  }

  /** Calls that have shared transactions of this kind, by the relay's metrics. */
  const sharedCalls = async (kind: string): Promise<number> =>
    (await figuresOf(market.relay.url, `marketplace_shared_transaction_calls_sum{kind="${kind}"}`))[0] ?? 0;

  /**
   * Opens and ends calls of the same moment. Each pays its shares of the fees, to the lamport. Returns the answers, and the
   * balances before.
   */
  async function requireShares(end: 'settle' | 'refund', answerOf: Answering) {
    const gasBalance = findSpender(market.callers[0]!.wallet.publicKey);
    if (end === 'settle') await market.node.fundSol(gasBalance, 1e9);
    const gas = await lamports(gasBalance);
    answerTogether(CALLS, answerOf);
    const counted = new Map([
      ['open', await sharedCalls('open')],
      [end, await sharedCalls(end)],
    ]);
    const [before, balances] = [await lamports(), await market.balances()];
    const answers = await Promise.all(Array.from({ length: CALLS }, (_, n) => execute(`${end} ${n}`)));
    const signed = await shared.signedFor(end);
    const paid = await shared.requireExactFees(signed);
    // On a busy machine they are ready one after the other, and few of them share.
    expect(paid < 2n * BigInt(CALLS) * SIGNATURE_LAMPORTS, `${paid} lamports`).to.equal(true);
    for (const kind of ['open', end]) {
      const own = signed.filter((one) => one.kind === kind);
      expect(own).to.have.length(CALLS);
      const sizes = await shared.requireWhole(own);
      const calls = sizes.filter((size) => size > 1).reduce((sum, size) => sum + size, 0);
      expect((await sharedCalls(kind)) - (counted.get(kind) ?? 0), `calls that share: ${sizes}`).to.equal(calls);
    }
    // Each wallet pays its shares of both out of its gas balance; the rest of the record's gas came back.
    const rows = await market.query(
      'ledger',
      `SELECT e.fee_lamports, t.fee, e.gas_lamports, e.gas_balance_lamports, s.fee AS end_fee FROM executions AS e
        JOIN transactions AS t ON t.execution_id = e.execution_id AND t.kind = 'open'
        JOIN transactions AS s ON s.execution_id = e.execution_id AND s.kind = '${end}' WHERE e.task LIKE '${end}%'`,
    );
    const { record, escrow } = await readRents(market);
    let collected = 0n;
    for (const { fee_lamports, fee, gas_lamports, gas_balance_lamports, end_fee } of rows) {
      expect([fee_lamports, gas_balance_lamports]).to.deep.equal([fee, fee + gas_lamports + escrow]);
      collected += fee_lamports + end_fee + ARCHIVE_SHARE;
    }
    expect(gas - (await lamports(gasBalance))).to.equal(collected);
    expect(before - (await lamports())).to.equal(paid - collected + BigInt(CALLS) * record);
    return { answers, balances };
  }

  it('open and settle calls of the same moment, which pay their shares of the fees, to the lamport', async () => {
    const { answers, balances } = await requireShares('settle', done);
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(CALLS).fill(200));
    const after = await market.balances();
    const count = BigInt(CALLS);
    expect(after.callers[0]).to.equal(balances.callers[0]! - count * PRICE);
    expect(after.creator).to.equal(balances.creator + count * (PRICE - FEE));
    expect(after.treasury).to.equal(balances.treasury + count * FEE);
    await requireReceipts(answers.map(({ body }) => body.execution_id));
  });

  it('refund calls of the same moment in full, which pay their shares of the fees, to the lamport', async () => {
    const { answers, balances } = await requireShares('refund', failing);
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(CALLS).fill(500));
    expect(await market.balances()).to.deep.equal(balances);
    const answered = `SELECT 1 AS kept FROM failed_answers AS f JOIN executions AS e ON e.execution_id = f.execution_id
      WHERE e.task LIKE 'refund%' AND e.state = 'refunded'`;
    expect(await market.query('ledger', answered)).to.have.length(CALLS);
  });

  /** Every receipt proves its own part of a transaction; one that claims another amount or transaction proves nothing. */
  async function requireReceipts(ids: string[]): Promise<void> {
    const client = createClient({ baseUrl: market.relay.url, apiKey: market.callers[0]!.apiKey });
    const receipts = await Promise.all(
      ids.map((execution_id) => client.request('getExecutionReceipt', { execution_id })),
    );
    const verify = (receipt: Receipt) => verifyReceipt(receipt, { rpcUrl: market.node.rpcUrl });
    for (const receipt of receipts) {
      const unproven = (await verify(receipt)).filter(({ state }) => state !== 'passed').map(({ name }) => name);
      expect(unproven, receipt.execution_id).to.deep.equal(['execution_signature']);
    }
    const settleOf = (receipt: Receipt) => receipt.transactions.settle;
    const isShared = (one: Receipt) => receipts.filter((other) => settleOf(other) === settleOf(one)).length > 1;
    const shared = receipts.find(isShared) ?? receipts[0]!;
    const elsewhere = receipts.find((one) => settleOf(one) !== settleOf(shared))!;
    for (const change of [{ price_usdc: shared.price_usdc * 2 }, { transactions: elsewhere.transactions }]) {
      const settlement = (await verify({ ...shared, ...change })).find(({ name }) => name === 'settlement');
      expect(settlement?.state, JSON.stringify(change)).to.equal('failed');
    }
  }

  /** An agent of another creator, with that creator's payout account. */
  async function listOther() {
    const creator = Keypair.generate();
    await market.node.fundSol(creator.publicKey, 1e9);
    await market.mintTo(creator.publicKey, 100_000_000n);
    const signingKey = generateSigningKey();
    market.setBehaviour(({ execution_id }, _response, reply) => reply(goodAnswer(signingKey, execution_id, 'x')));
    const other = { name: `other ${creator.publicKey.toBase58().slice(0, 8)}`, creator };
    const agent = await market.list({ ...other, endpoint: market.endpoint, signingKey });
    return { agent, signingKey, payout: findTokenAccount(creator.publicKey, market.usdcMint) };
  }

  describe('with a part that fails on the chain, or another node', () => {
    // New ones, because a relay lets a wallet go alone that has made a transaction fail.
    const proxy = useRpcProxy(market, { each: true });
    let relay: RunningRelay;
    beforeEach(async () => {
      relay = await startRelayHere(market, { ...proxy.environment, SPONSOR: 'all' });
    });
    afterEach(() => relay.stop());

    const requireOneBearer = async (kind: Kind, bearer: string, others: string): Promise<void> =>
      shared.requireOneBearer(kind, await shared.signedFor(bearer), await shared.signedFor(others), [
        'open',
        kind === 'refund' ? 'refund' : 'settle',
      ]);
    const lost = (column: 'lost_fees' | 'listing_fees') =>
      market.query('ledger', `SELECT task, ${column} FROM executions WHERE ${column} > 0`);

    it('let that settle pay alone, and settle the others by transactions of their own', async () => {
      const { agent, signingKey, payout } = await listOther();
      answerTogether(7, (id, task) => (task === 'poison' ? goodAnswer(signingKey, id, 'x') : done(id, task)));
      spoilShared(proxy, 'settle', () => market.setFrozen(payout, true));
      const calls = Array.from({ length: 6 }, (_, n) => execute(`beside ${n}`, relay.url));
      const poisoned = execute('poison', relay.url, agent);
      const answers = await Promise.all(calls);
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(6).fill(200));
      const hasOne = async (outcome: string) =>
        (await shared.signedFor('poison')).some((one) => one.kind === 'settle' && one.outcome === outcome);
      await until('its transaction has failed', () => hasOne('failed'));
      await market.setFrozen(payout, false);
      // Its settle waits until the account can receive, as if it had been alone.
      expect((await poisoned).status).to.equal(202);
      await until('it is settled', () => hasOne('landed'));
      await requireOneBearer('settle', 'poison', 'beside');
      expect(await lost('listing_fees')).to.deep.equal([{ task: 'poison', listing_fees: SIGNATURE_LAMPORTS }]);
    });

    it('give way to those of single calls if the node does not know version 1, and it gets no signature too early', async () => {
      market.setBehaviour(null);
      const early: string[] = [];
      const unknown = { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'failed to deserialize' } };
      const triedAt: number[] = [];
      proxy.onCall(({ method, params: [bytes] }) => {
        if (method !== 'simulateTransaction') return null;
        if (signaturesIn(String(bytes)).some((byte) => byte !== 0)) early.push(String(bytes));
        if (!isVersionOne(bytes)) return null;
        triedAt.push(performance.now());
        return { json: unknown };
      });
      const executeSix = async (name: string) => {
        const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => execute(`${name} ${n}`, relay.url)));
        expect(answers.map(({ status }) => status)).to.deep.equal(Array(6).fill(200));
      };
      await executeSix('old');
      const signed = await shared.signedFor('old');
      expect(signed.map(({ outcome, fee }) => [outcome, fee])).to.deep.equal(
        Array(12).fill(['landed', SIGNATURE_LAMPORTS]),
      );
      expect(early, 'a node could send what is not stored').to.deep.equal([]);
      // For a minute it tries no other.
      const last = triedAt.at(-1)!;
      const tried = triedAt.length;
      await executeSix('later');
      for (const at of triedAt.slice(tried)) expect(at - last).to.be.at.least(60_000);
    });

    it('let that refund pay alone and wait for its account, and refund the others by their own', async () => {
      const { usdc, wallet } = market.callers[1]!;
      market.setBehaviour(null);
      expect((await execute('to be known', relay.url, market.agentId, 1)).status).to.equal(200);
      await untilPaid(1);
      const balances = await market.balances();
      answerTogether(7, failing);
      spoilShared(proxy, 'refund', () => market.setFrozen(usdc, true));
      const calls = Array.from({ length: 6 }, (_, n) => execute(`returned ${n}`, relay.url));
      const stuck = execute('stuck', relay.url, market.agentId, 1);
      expect((await Promise.all(calls)).map(({ status }) => status)).to.deep.equal(Array(6).fill(500));
      const failed = await stuck;
      expect([failed.status, failed.body.error.code]).to.deep.equal([500, 'execution_failed']);
      await market.setFrozen(usdc, false);
      const isBack = async () =>
        (await shared.signedFor('stuck')).some((one) => one.kind === 'refund' && one.outcome === 'landed');
      await until('it is refunded', isBack);
      await requireOneBearer('refund', 'stuck', 'returned');
      const owes = `SELECT task, lost_fees FROM executions WHERE lost_fees > 0 AND wallet = '${wallet.publicKey.toBase58()}'`;
      expect(await market.query('ledger', owes)).to.deep.equal([{ task: 'stuck', lost_fees: SIGNATURE_LAMPORTS }]);
      expect(await market.balances()).to.deep.equal(balances);
    });

    it('let that open pay alone, and open the others by transactions of their own', async () => {
      market.setBehaviour(null);
      const { usdc } = market.callers[1]!;
      expect((await execute('known', relay.url, market.agentId, 1)).status).to.equal(200);
      await untilPaid(1);
      spoilShared(proxy, 'open', () => market.setFrozen(usdc, true));
      const balances = await market.balances();
      // The first may go alone; the others are one transaction together with the one that fails.
      const calls = Array.from({ length: 4 }, (_, n) => execute(`opened ${n}`, relay.url));
      const withdrawn = await execute('withdrawn', relay.url, market.agentId, 1);
      expect(withdrawn.status, withdrawn.text).to.be.within(400, 599);
      expect((await Promise.all(calls)).map(({ status }) => status)).to.deep.equal(Array(4).fill(200));
      await market.setFrozen(usdc, false);
      await requireOneBearer('open', 'withdrawn', 'opened');
      expect(await lost('lost_fees')).to.deep.include({ task: 'withdrawn', lost_fees: SIGNATURE_LAMPORTS });
      const after = await market.balances();
      expect(after.callers).to.deep.equal([balances.callers[0]! - 4n * PRICE, balances.callers[1]]);
    });
  });

  // Before its transaction is stored, a call is as one that goes alone: kills.test.ts has those.
  for (const kind of ['open', 'settle', 'refund']) {
    const point = `shared-${kind}:after`;
    const [end, answerOf] = kind === 'refund' ? ['refunded', failing] : ['settled', done];
    it(`end once, each as if alone, when the relay is killed at ${point}`, async () => {
      const doomed = await market.startRelayProcess({ STANDSTILL: '1', WITHOUT_INDEXER: '1' });
      const balances = await market.balances();
      const calls: Promise<unknown>[] = [];
      const like = `stop at ${point}`;
      const inState = async (wanted: string) => {
        const rows = await market.query('ledger', `SELECT state FROM executions WHERE task LIKE '${like}%'`);
        return rows.filter(({ state }) => state === wanted).length;
      };
      // On a busy machine each of the first may go alone.
      for (let sent = 0; doomed.standing.size < 2; ) {
        if (kind === 'open') market.setBehaviour(null);
        else answerTogether(6, answerOf);
        for (let n = 0; n < 6; n += 1, sent += 1) {
          calls.push(execute(stopAt(point, `${sent}`), doomed.url).catch(() => null));
        }
        const stand = async () => doomed.standing.size + (await inState(end)) === sent;
        await until('all stand or have ended', stand);
      }
      await doomed.kill();
      market.setBehaviour(({ execution_id, task }, _response, reply) => reply(answerOf(execution_id, task)));
      await Promise.all(calls);
      await until('another relay ends them', async () => (await inState(end)) === calls.length);
      const paid = end === 'settled' ? BigInt(calls.length) : 0n;
      const signed = await shared.signedFor(like);
      await shared.requireExactFees(signed);
      for (const id of new Set(signed.map(({ execution_id }) => execution_id))) {
        const transactions = await market.transactionsOf(id);
        expect(transactions.map(({ err }) => err)).to.deep.equal([null, null]);
      }
      const after = await market.balances();
      expect(after.callers[0]).to.equal(balances.callers[0]! - paid * PRICE);
      expect(after.creator).to.equal(balances.creator + paid * (PRICE - FEE));
    });
  }
});

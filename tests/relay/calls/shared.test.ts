/** Calls that are ready in the same moment share a transaction, on the real node: fees, balances and poisoned parts. */
import { Keypair, type PublicKey, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import { ARCHIVE_SHARE } from '../../../app/relay/chain/fees.ts';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { createClient } from '../../../app/sdk/client/client.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import { findExecution, findSpender, findTokenAccount } from '../../../app/sdk/program/program.ts';
import { readTransaction } from '../../../app/sdk/program/transaction.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { verifyReceipt } from '../../../app/sdk/receipt/verify.ts';
import type { Receipt } from '../../../app/sdk/wire/receipt.ts';
import { until } from '../../harness/edge/until.ts';
import { readRents } from '../../harness/node/funds.ts';
import {
  type Answer,
  FEE,
  goodAnswer,
  PRICE,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { FORGETFUL, startRelayHere } from '../../harness/node/relayHere.ts';
import { type Kind, type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';
import { stopAt } from '../../harness/node/standstill.ts';

/** Calls at once: more than one transaction holds. */
const CALLS = 16;
const SIGNATURE_LAMPORTS = 5_000n;

interface Signed {
  kind: string;
  signature: string;
  fee: bigint;
  outcome: string;
  execution_id: string;
}

describe('transactions that calls share', function () {
  this.timeout(300_000);
  let market: TestMarketplace;
  before(async () => {
    market = await startMarketplace();
    await execute('the first');
    await untilPaid(0);
  });
  after(() => market.stop());

  const execute = (task: string, url = market.relay.url, agent = market.agentId, caller = 0): Promise<Answer> =>
    request(url, `/v1/agents/${agent}/execute`, {
      apiKey: market.callers[caller]!.apiKey,
      body: { task },
    });
  /** Only wallets that have paid share, by the index. */
  const untilPaid = (caller: number) =>
    until('the index knows that the wallet has paid', async () => {
      const wallet = market.callers[caller]!.wallet.publicKey.toBase58();
      const paid = `SELECT record FROM executions WHERE status = 'completed' AND caller = '${wallet}'`;
      return (await market.query('index', paid)).length > 0;
    });
  const lamports = async () => BigInt(await market.node.connection.getBalance(market.authority.publicKey, 'confirmed'));

  /** Answers that come once all of these calls have reached the creator. */
  function answerTogether(count: number, keyOf: (task: string) => Uint8Array = () => market.signingKey): void {
    const held: (() => void)[] = [];
    market.setBehaviour(({ execution_id, task }, _response, reply) => {
      held.push(() => reply(goodAnswer(keyOf(task), execution_id, `done: ${task}`)));
      if (held.length === count) for (const answer of held) answer();
    });
  }

  /** What was signed for the calls with these tasks. */
  const signedFor = (tasks: string): Promise<Signed[]> =>
    market.query(
      'ledger',
      `SELECT t.kind, t.signature, t.fee, t.outcome, t.execution_id FROM transactions AS t
        JOIN executions AS e ON e.execution_id = t.execution_id WHERE e.task LIKE '${tasks}%'`,
    );

  /** Expects that the shares of each transaction add up to the fee that the chain took for it. */
  async function requireExactFees(signed: Signed[]): Promise<bigint> {
    const shares = new Map<string, bigint>();
    for (const { signature, fee, outcome } of signed) {
      if (outcome !== 'expired') shares.set(signature, (shares.get(signature) ?? 0n) + fee);
    }
    for (const [signature, sum] of shares) {
      const landed = await readTransaction(market.node.connection, signature);
      expect(BigInt(landed!.meta!.fee), signature).to.equal(sum);
    }
    return [...shares.values()].reduce((sum, fee) => sum + fee, 0n);
  }

  it('open and settle calls of the same moment, which pay their shares of the fees, to the lamport', async () => {
    const gasBalance = findSpender(market.callers[0]!.wallet.publicKey);
    await market.node.fundSol(gasBalance, 1e9);
    answerTogether(CALLS);
    const [before, balances] = [await lamports(), await market.balances()];
    const answers = await Promise.all(Array.from({ length: CALLS }, (_, n) => execute(`together ${n}`)));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(CALLS).fill(200));
    const signed = await signedFor('together');
    const paid = await requireExactFees(signed);
    // On a busy machine they are ready one after the other, and few of them share.
    expect(paid < 2n * BigInt(CALLS) * SIGNATURE_LAMPORTS, `${paid} lamports`).to.equal(true);
    for (const kind of ['open', 'settle']) {
      const own = signed.filter((one) => one.kind === kind);
      expect(own.map(({ outcome }) => outcome)).to.deep.equal(Array(CALLS).fill('landed'));
      for (const signature of new Set(own.map((one) => one.signature))) {
        const stored = `SELECT bytes, fee FROM signed_transactions WHERE signature = '${signature}'`;
        const [row] = await market.query('ledger', stored);
        const { message } = VersionedTransaction.deserialize(row.bytes);
        const calls = own.filter((one) => one.signature === signature).length;
        expect(row.fee).to.equal(SIGNATURE_LAMPORTS);
        const landed = await readTransaction(market.node.connection, signature);
        expect(landed!.meta!.logMessages, 'events for the index').to.not.include('Log truncated');
        if (calls > 1) expect([message.version, message.compiledInstructions.length]).to.deep.equal([1, calls]);
      }
    }
    // Each wallet pays its shares of open and settle out of its gas balance; the rest of the record's gas came back.
    const rows = await market.query(
      'ledger',
      `SELECT e.fee_lamports, t.fee, e.gas_lamports, e.gas_balance_lamports, s.fee AS settle_fee FROM executions AS e
        JOIN transactions AS t ON t.execution_id = e.execution_id AND t.kind = 'open'
        JOIN transactions AS s ON s.execution_id = e.execution_id AND s.kind = 'settle' WHERE e.task LIKE 'together%'`,
    );
    const { record, escrow } = await readRents(market);
    let collected = 0n;
    for (const { fee_lamports, fee, gas_lamports, gas_balance_lamports, settle_fee } of rows) {
      expect([fee_lamports, gas_balance_lamports]).to.deep.equal([fee, fee + gas_lamports + escrow]);
      collected += fee_lamports + settle_fee + ARCHIVE_SHARE;
    }
    expect(1_000_000_000n - BigInt(await market.node.connection.getBalance(gasBalance, 'confirmed'))).to.equal(
      collected,
    );
    expect(before - (await lamports())).to.equal(paid - collected + BigInt(CALLS) * record);
    const after = await market.balances();
    const count = BigInt(CALLS);
    expect(after.callers[0]).to.equal(balances.callers[0]! - count * PRICE);
    expect(after.creator).to.equal(balances.creator + count * (PRICE - FEE));
    expect(after.treasury).to.equal(balances.treasury + count * FEE);
    await requireReceipts(answers.map(({ body }) => body.execution_id));
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

  describe('with a part that fails on the chain', () => {
    let proxy: RpcProxy;
    let relay: RunningRelay;
    before(async () => {
      proxy = await startRpcProxy(market.node);
      const places = { SOLANA_RPC_URL: proxy.rpcUrl, SOLANA_WS_URL: proxy.wsUrl };
      relay = await startRelayHere(market, { ...places, SPONSOR: 'all', ...FORGETFUL });
    });
    after(async () => {
      await relay.stop();
      await proxy.close();
    });

    /** Freezes this account before the first shared transaction of this kind reaches the node. */
    function poison(shared: Kind, account: PublicKey): void {
      let poisoned: Promise<void> | null = null;
      proxy.onCall(async ({ kind, params: [bytes] }) => {
        const isShared = kind === shared && Buffer.from(String(bytes), 'base64')[0] === 0x81;
        if (isShared) poisoned ??= market.setFrozen(account, true);
        await poisoned;
        return null;
      });
    }

    /** Expects that one row bears the whole fee of the failed transaction, and the others of it have landed alone. */
    async function requireOneBearer(kind: Kind, bearer: Signed[], others: Signed[]): Promise<void> {
      const signed = [...bearer, ...others];
      await requireExactFees(signed);
      const failed = signed.filter(({ outcome }) => outcome === 'failed');
      expect(failed.map((one) => [one.fee, one.kind])).to.deep.equal([[SIGNATURE_LAMPORTS, kind]]);
      expect(failed[0]!.execution_id).to.equal(bearer[0]!.execution_id);
      const innocent = others.filter(({ signature }) => signature === failed[0]!.signature);
      expect(innocent.length).to.be.at.least(1);
      for (const { execution_id, outcome } of innocent) {
        const landed = signed.filter((one) => one.execution_id === execution_id && one.outcome === 'landed');
        expect([outcome, ...landed.map((one) => one.kind).sort()]).to.deep.equal(['expired', 'open', 'settle']);
      }
    }
    const lost = (column: 'lost_fees' | 'listing_fees') =>
      market.query('ledger', `SELECT task, ${column} FROM executions WHERE ${column} > 0`);

    it('let that settle pay alone, and settle the others by transactions of their own', async () => {
      const { agent, signingKey, payout } = await listOther();
      answerTogether(7, (task) => (task === 'poison' ? signingKey : market.signingKey));
      poison('settle', payout);
      const calls = Array.from({ length: 6 }, (_, n) => execute(`beside ${n}`, relay.url));
      const poisoned = execute('poison', relay.url, agent);
      const answers = await Promise.all(calls);
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(6).fill(200));
      const hasOne = async (outcome: string) =>
        (await signedFor('poison')).some((one) => one.kind === 'settle' && one.outcome === outcome);
      await until('its transaction has failed', () => hasOne('failed'));
      await market.setFrozen(payout, false);
      // Its settle waits until the account can receive, as if it had been alone.
      expect((await poisoned).status).to.equal(202);
      await until('it is settled', () => hasOne('landed'));
      await requireOneBearer('settle', await signedFor('poison'), await signedFor('beside'));
      expect(await lost('listing_fees')).to.deep.equal([{ task: 'poison', listing_fees: SIGNATURE_LAMPORTS }]);
    });

    it('let that open pay alone, and open the others by transactions of their own', async () => {
      market.setBehaviour(null);
      const { usdc } = market.callers[1]!;
      expect((await execute('known', relay.url, market.agentId, 1)).status).to.equal(200);
      await untilPaid(1);
      poison('open', usdc);
      const balances = await market.balances();
      // The first may go alone; the others are one transaction together with the one that fails.
      const calls = Array.from({ length: 4 }, (_, n) => execute(`opened ${n}`, relay.url));
      const withdrawn = await execute('withdrawn', relay.url, market.agentId, 1);
      expect(withdrawn.status, withdrawn.text).to.be.within(400, 599);
      expect((await Promise.all(calls)).map(({ status }) => status)).to.deep.equal(Array(4).fill(200));
      await market.setFrozen(usdc, false);
      await requireOneBearer('open', await signedFor('withdrawn'), await signedFor('opened'));
      expect(await lost('lost_fees')).to.deep.equal([{ task: 'withdrawn', lost_fees: SIGNATURE_LAMPORTS }]);
      const after = await market.balances();
      expect(after.callers).to.deep.equal([balances.callers[0]! - 4n * PRICE, balances.callers[1]]);
    });
  });

  for (const point of ['shared-open:before', 'shared-open:after', 'shared-settle:before', 'shared-settle:after']) {
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
        if (point.startsWith('shared-settle')) answerTogether(6);
        else market.setBehaviour(null);
        for (let n = 0; n < 6; n += 1, sent += 1) {
          calls.push(execute(stopAt(point, `${sent}`), doomed.url).catch(() => null));
        }
        const stand = async () => doomed.standing.size + (await inState('settled')) === sent;
        await until('all stand or have ended', stand);
      }
      // A call without a stored open has cost nothing.
      const unpaid = point === 'shared-open:before' ? doomed.standing.size : 0;
      await doomed.kill();
      await Promise.all(calls);
      await until(
        'another relay ends them',
        async () => (await inState('settled')) === calls.length - unpaid && (await inState('void')) === unpaid,
      );
      const paid = BigInt(calls.length - unpaid);
      const signed = await signedFor(like);
      await requireExactFees(signed);
      for (const id of new Set(signed.map(({ execution_id }) => execution_id))) {
        const record = findExecution(parseUuid(id)!);
        const transactions = await market.node.connection.getSignaturesForAddress(record, undefined, 'confirmed');
        expect(transactions.map(({ err }) => err)).to.deep.equal([null, null]);
      }
      const after = await market.balances();
      expect(after.callers[0]).to.equal(balances.callers[0]! - paid * PRICE);
      expect(after.creator).to.equal(balances.creator + paid * (PRICE - FEE));
    });
  }
});

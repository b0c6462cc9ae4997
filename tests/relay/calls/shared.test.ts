/** Calls that are ready in the same moment share a transaction, on the real node: fees, balances and poisoned parts. */
import { VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import { readTransaction } from '../../../app/sdk/program/transaction.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  FEE,
  goodAnswer,
  PRICE,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { readRents } from '../../harness/node/purses.ts';

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
    await until('the index knows that the wallet has paid', async () => {
      const [{ count }] = await market.query(
        'index',
        `SELECT CAST(count(*) AS BIGINT) AS count FROM executions WHERE status = 'completed'`,
      );
      return count === 1n;
    });
  });
  after(() => market.stop());

  const execute = (task: string): Promise<Answer> =>
    request(market.relay.url, `/v1/agents/${market.agentId}/execute`, {
      apiKey: market.callers[0]!.apiKey,
      body: { task },
    });
  const lamports = async () => BigInt(await market.node.connection.getBalance(market.authority.publicKey, 'confirmed'));

  /** Answers that come once all of these calls have reached the creator. */
  function answerTogether(count: number, meanwhile: () => Promise<void> = async () => undefined): void {
    const held: (() => void)[] = [];
    market.setBehaviour((body, _response, reply) => {
      held.push(() => reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`)));
      if (held.length === count) void meanwhile().then(() => held.map((answer) => answer()));
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

  it('settle calls of the same moment, which pay their shares of the fee, to the lamport', async () => {
    answerTogether(CALLS);
    const [before, balances] = [await lamports(), await market.balances()];
    const answers = await Promise.all(Array.from({ length: CALLS }, (_, n) => execute(`together ${n}`)));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(CALLS).fill(200));
    const signed = await signedFor('together');
    const settles = signed.filter(({ kind }) => kind === 'settle');
    expect(settles.map(({ outcome }) => outcome)).to.deep.equal(Array(CALLS).fill('landed'));
    const distinct = new Set(settles.map(({ signature }) => signature));
    expect(distinct.size).to.be.at.most(CALLS / 2);
    const paid = await requireExactFees(signed);
    const { record } = await readRents(market);
    expect(before - (await lamports())).to.equal(paid + BigInt(CALLS) * BigInt(record));
    const after = await market.balances();
    const count = BigInt(CALLS);
    expect(after.callers[0]).to.equal(balances.callers[0]! - count * PRICE);
    expect(after.creator).to.equal(balances.creator + count * (PRICE - FEE));
    expect(after.treasury).to.equal(balances.treasury + count * FEE);
    for (const signature of distinct) {
      const [row] = await market.query(
        'ledger',
        `SELECT bytes, fee FROM signed_transactions WHERE signature = '${signature}'`,
      );
      const { message } = VersionedTransaction.deserialize(row.bytes);
      const calls = settles.filter((one) => one.signature === signature).length;
      expect(row.fee).to.equal(SIGNATURE_LAMPORTS);
      if (calls > 1) expect([message.version, message.compiledInstructions.length]).to.deep.equal([1, calls]);
    }
  });
});

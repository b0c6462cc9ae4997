/**
 * Refunds that callers cannot receive. However many there are, other callers are served. While their wallet owes fees of
 * refunds that failed, they are not sent again. After an hour the relay sends them if they can arrive, and moves them to
 * the unclaimed ones if they cannot. There their caller claims them.
 */
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { constants, findExecution, findSpender, findUnclaimed } from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { type ExecutionFacts, verifyExecution } from '../../../app/sdk/receipt/verify.ts';
import { openChain } from '../../../app/sdk/wallet/marketplace.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { claimUnclaimed } from '../../../app/sdk/wallet/unclaimed.ts';
import { until, untilFound } from '../../harness/edge/until.ts';
import { readRents } from '../../harness/node/funds.ts';
import { failedAnswer, figuresOf, goodAnswer, PRICE, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { useRelaysHere } from '../../harness/node/relayHere.ts';
import { holdSends, useRpcProxy } from '../../harness/node/rpcProxy.ts';

const FEE = 5_000n;
describe('refunds that callers cannot receive', function () {
  this.timeout(300_000);
  let relay: RunningRelay;
  let refunds: ReturnType<typeof holdSends>;
  // A refund that is held before the node expires after 150 slots.
  const market = useMarketplace({ slotTimeMs: 200 });
  const proxy = useRpcProxy(market);
  const startHere = useRelaysHere(market);
  before(async () => {
    refunds = holdSends(proxy, 'refund');
    for (const { wallet } of market.callers) await market.node.fundSol(findSpender(wallet.publicKey), 10e9);
  });
  beforeEach(async () => {
    await market.forgetExecutions();
    await market.setFrozen(market.callers[0]!.usdc, false);
  });
  const start = async () => {
    relay = await startHere(proxy.environment);
  };
  const execute = (caller: number, body: object = {}, agent?: string) =>
    market.execute(relay.url, { task: 'x', ...body }, { caller, agent });
  const serve = async (caller: number, agent?: string) => {
    const answer = await execute(caller, agent === undefined ? {} : { task: agent }, agent);
    expect(answer.status, answer.text).to.equal(200);
    return answer;
  };
  const answerWell = () =>
    market.setBehaviour((body, _response, reply) => reply(goodAnswer(market.signingKey, body.execution_id, 'x')));
  /** Runs this many calls of the attacker in parallel, whose refunds wait for its account. Returns their ids. */
  async function letWait(count: number): Promise<string[]> {
    let dispatched = 0;
    market.setBehaviour(async (body, _response, reply) => {
      dispatched += 1;
      await until('all are open', async () => dispatched === count);
      await market.setFrozen(market.callers[0]!.usdc, true);
      reply(failedAnswer(body.execution_id));
    });
    const calls = await Promise.all(Array.from({ length: count }, () => execute(0, { async: true })));
    const ids = calls.map(({ body }) => body.execution_id as string);
    for (const id of ids) await until('its refund waits', async () => (await refundOf(id)) === 'waiting');
    answerWell();
    return ids;
  }
  const wake = () => market.query('ledger', 'UPDATE executions SET rest_until_ms = 0');
  /** Lets this many waiting refunds go on their way, and fail: the attacker's account closes under them. */
  async function letFail(count: number): Promise<void> {
    const { usdc } = market.callers[0]!;
    const holding = refunds.hold();
    await market.setFrozen(usdc, false);
    await until('all are on their way', async () => {
      await wake();
      return holding.length === count;
    });
    await market.setFrozen(usdc, true);
    refunds.release();
    await until('the wallet owes their fees', async () => (await owed()) === BigInt(count) * FEE);
  }
  const owed = () => query('SELECT CAST(coalesce(sum(lamports), 0) AS BIGINT) FROM debts');
  const refundOf = async (id: string) => (await market.read(relay.url, id)).body.refund;
  const query = async (text: string): Promise<bigint> =>
    Object.values((await market.query('ledger', text))[0])[0] as bigint;
  const unclaimed = async () => (await figuresOf(relay.url, 'marketplace_lamports_unclaimed'))[0];

  it('are not sent again while their wallet owes fees of refunds that failed, until its calls have repaid them', async () => {
    const [attacker] = market.callers;
    await start();
    const COUNT = 2;
    const ids = await letWait(COUNT);
    expect(await owed()).to.equal(0n);
    await letFail(COUNT);
    const holding = refunds.hold();
    await market.setFrozen(attacker!.usdc, false);
    const resting = () => query('SELECT count(*) AS rows FROM executions WHERE rest_until_ms > 0');
    for (let looks = 0; looks < 10; looks += 1) {
      await wake();
      await until('the relay has looked at both', async () => (await resting()) === BigInt(COUNT));
    }
    expect(holding).to.deep.equal([]);
    refunds.release();
    await serve(1);
    // Its next calls repay them.
    await market.query('ledger', 'UPDATE debts SET lost_ms = 0');
    await serve(0);
    await serve(0);
    await until('both are paid back', async () => {
      await wake();
      return (await market.countRecords(ids, 'refunded')) === COUNT;
    });
  });

  it('take nothing from other callers, and end as unclaimed refunds that their callers claim', async () => {
    const [attacker] = market.callers;
    await start();
    const ids = await letWait(2);
    const { record } = await readRents(market);
    // The escrows' rent is the wallet's own.
    expect(await unclaimed()).to.equal(ids.length * Number(record));
    await serve(1);

    const records = await Promise.all(ids.map((id) => market.record(id)));
    const refundAt = Math.max(...records.map((one) => Number(one!.refundAt)));
    const before = await market.balances();
    await market.node.timeTravel(refundAt + constants.unclaimedSeconds + 1);
    for (const id of ids) {
      await until('it is moved', async () => (await market.record(id)) === null);
      await until('the relay knows', async () => {
        await market.query('ledger', `UPDATE executions SET rest_until_ms = 0 WHERE execution_id = '${id}'`);
        return String(await query(`SELECT state FROM executions WHERE execution_id = '${id}'`)) === 'refunded';
      });
      await until('the API shows it', async () => (await refundOf(id)) === 'unclaimed');
    }
    expect(await market.amountOf(findUnclaimed())).to.equal(BigInt(ids.length) * PRICE);
    // Anyone's verification shows where the whole price is.
    const [first, second] = ids;
    const facts: ExecutionFacts[] = [];
    await verifyExecution(first!, { rpcUrl: market.node.rpcUrl, onFacts: (found) => void facts.push(found) });
    expect(facts[0]?.refund?.amount).to.equal(PRICE);
    expect(await unclaimed()).to.equal(0);
    // The relay has sent no refund, so the wallet owes nothing.
    expect(await market.query('ledger', 'SELECT lamports FROM debts')).to.deep.equal([]);

    await market.setFrozen(attacker!.usdc, false);
    const { body } = await untilFound('its proof is served', async () => {
      const source = findExecution(parseUuid(first!)!).toBase58();
      const answer = await request(relay.url, `/v1/unclaimed/${source}`);
      return answer.status === 200 ? answer : null;
    });
    expect(body.refunds).to.have.length(1);
    const chain = await openChain({ baseUrl: relay.url, rpcUrl: market.node.rpcUrl });
    await claimUnclaimed(chain, {
      wallet: keypairSigner(attacker!.wallet),
      source: findExecution(parseUuid(first!)!),
      findUnclaimed: async () => body.refunds,
    });
    await until('the API shows the claim', async () => (await refundOf(first!)) === 'done');
    expect(await refundOf(second!)).to.equal('unclaimed');
    expect(await market.amountOf(findUnclaimed())).to.equal(PRICE);
    const after = await market.balances();
    expect(after).to.deep.equal({
      ...before,
      callers: before.callers.map((held, at) => held + (at === 0 ? PRICE : 0n)),
    });
  });
});

/**
 * Refunds that callers cannot receive, at the budgets of an attack: they use up the strangers' part of one day, their
 * wallet is lent nothing more, and after a week the relay hands them over.
 */
import { AccountLayout } from '@solana/spl-token';
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { constants, findEscrow, findExecution, findSpender } from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { type ExecutionFacts, verifyExecution } from '../../../app/sdk/receipt/verify.ts';
import { until } from '../../harness/edge/until.ts';
import {
  failedAnswer,
  goodAnswer,
  PRICE,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { readRents } from '../../harness/node/purses.ts';
import { FORGETFUL, startRelayHere } from '../../harness/node/relayHere.ts';

const ATTACKS = 2;
/** Calls that pay their gas, until a wallet counts as proven. */
const PROVEN_BY = 4;

describe('refunds that callers cannot receive', function () {
  this.timeout(300_000);
  let market: TestMarketplace;
  let relay: RunningRelay;
  before(async () => {
    market = await startMarketplace();
    relay = await startRelayHere(market, {
      ...FORGETFUL,
      SPONSOR: 'budgets',
      TRIAL_CALLS_PER_WALLET: '0',
      BURNT_LAMPORTS_PER_DAY: '60000',
      SPONSOR_LAMPORTS_WAITING: '1',
    });
    for (const { wallet } of market.callers) await market.node.fundSol(findSpender(wallet.publicKey), 1e9);
  });
  after(async () => {
    await relay.stop();
    await market.stop();
  });

  const execute = (caller: number, body: object = {}) =>
    request(relay.url, `/v1/agents/${market.agentId}/execute`, {
      apiKey: market.callers[caller]!.apiKey,
      body: { task: 'x', ...body },
    });
  const refundOf = async (id: string) =>
    (await request(relay.url, `/v1/executions/${id}`, { apiKey: market.callers[0]!.apiKey })).body.refund;
  const query = async (text: string): Promise<bigint> =>
    Object.values((await market.query('ledger', text))[0])[0] as bigint;
  const lentTo = (id: string) => query(`SELECT record_lent FROM executions WHERE execution_id = '${id}'`);
  const waiting = () =>
    query("SELECT coalesce(sum(lamports), 0) FROM lent_sums WHERE scope = 'waiting'").then((sum) => BigInt(sum));
  const escrowOf = (id: string) => findEscrow(findExecution(parseUuid(id)!));

  it("burden the budgets for a day only, and end with escrow accounts that are their callers' own", async () => {
    const [attacker] = market.callers;
    let dispatched = 0;
    market.setBehaviour(async (body, _response, reply) => {
      dispatched += 1;
      await until('all are open', async () => dispatched === ATTACKS);
      await market.setFrozen(attacker!.usdc, true);
      reply(failedAnswer(body.execution_id));
    });
    const calls = await Promise.all(Array.from({ length: ATTACKS }, () => execute(0, { async: true })));
    const ids = calls.map(({ body }) => body.execution_id as string);
    for (const id of ids) await until('its refund waits', async () => (await refundOf(id)) === 'blocked');
    const { record, escrow } = await readRents(market);
    await until('their rent is counted', async () => (await waiting()) === BigInt(ATTACKS) * (record + escrow));
    market.setBehaviour((body, _response, reply) => reply(goodAnswer(market.signingKey, body.execution_id, 'x')));

    // On the day of their calls they count like losses, which leaves nothing for strangers; after it, nothing.
    expect((await execute(1)).body.error?.code).to.equal('service_unavailable');
    await market.query('ledger', 'UPDATE executions SET created_ms = created_ms - 86400000');
    // A fresh wallet brings its own rent, until it has paid for calls.
    for (let call = 0; call <= PROVEN_BY; call += 1) {
      const answer = await execute(1);
      expect(answer.status, answer.text).to.equal(200);
      expect(await lentTo(answer.body.execution_id)).to.equal(call < PROVEN_BY ? 0n : record);
    }

    const records = await Promise.all(ids.map((id) => market.record(id)));
    const refundAt = Math.max(...records.map((one) => Number(one!.refundAt)));
    await market.node.timeTravel(refundAt + constants.handOverSeconds + 1);
    for (const id of ids) {
      await until('it is handed over', async () => (await market.record(id))?.status === 'refunded');
      const account = await market.node.connection.getAccountInfo(escrowOf(id), 'confirmed');
      const { amount, owner } = AccountLayout.decode(account!.data);
      expect([amount, owner.toBase58()]).to.deep.equal([PRICE, attacker!.wallet.publicKey.toBase58()]);
      const state = `SELECT refund_state FROM executions WHERE execution_id = '${id}'`;
      await until('the relay knows', async () => String(await query(state)) === 'handed_over');
    }
    // What the API shows and what anyone verifies: the whole price is the caller's.
    const [first] = ids;
    await until('the API shows it', async () => (await refundOf(first!)) === 'handed_over');
    const facts: ExecutionFacts[] = [];
    await verifyExecution(first!, { rpcUrl: market.node.rpcUrl, onFacts: (found) => void facts.push(found) });
    expect(facts[0]?.refund?.amount).to.equal(PRICE);
    // The rent of these accounts is still out, and so is that of their records for three days.
    expect(await waiting()).to.equal(BigInt(ATTACKS) * (record + escrow));
  });
});

/**
 * One key, one charge: the ledger is lost, with a paid call, a refunded one and an open one. All of them, and later calls,
 * are repeated with their Idempotency-Keys after 5 minutes, 40 minutes and 20 hours, which are this half-hour or the next,
 * a later one, and a time when the record has left its address.
 */
import { expect } from 'chai';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  failedAnswer,
  goodAnswer,
  PRICE,
  type RelayHandle,
  request,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { FORGETFUL } from '../../harness/node/relayHere.ts';

const AGES = [300, 2_400, 72_000];
/** The agent's timeout and the grace of a refund. */
const REFUND_SECONDS = 660;
/** More than an open can still land after it was signed. */
const OPENS_SECONDS = 61;

describe('a key', () => {
  let relay: RelayHandle;
  let log = '';

  const market = useMarketplace();
  before(() =>
    market.setBehaviour((body, _response, reply) => {
      if (body.task === 'fails') reply(failedAnswer(body.execution_id));
      else if (body.task !== 'stays open') {
        reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`));
      }
    }),
  );
  after(() => relay.kill());

  const held = async () => (await market.balances()).callers[0]!;
  const execute = (key: string | null, body: Record<string, unknown>): Promise<Answer> =>
    market.execute(relay.url, body, { headers: key === null ? {} : { 'idempotency-key': key } });
  /** The answer, once it does not say that the relay waits for the index. */
  async function ask(key: string, task: string): Promise<Answer> {
    let answer: Answer;
    await until(`an answer to ${key}`, async () => {
      answer = await execute(key, { task });
      return answer.status !== 503 || answer.body.error.execution_id !== null;
    });
    return answer!;
  }
  async function errorOf(key: string, task: string): Promise<[status: number, code: string, id: string]> {
    const { status, body } = await ask(key, task);
    return [status, body.error?.code, body.error?.execution_id];
  }

  it('gets the end that the chain shows after the ledger is lost, at every age, and charges once', async () => {
    relay = market.relay;
    const before = await held();
    const begun = await market.node.now();
    const paid = await execute('paid', { task: 'once' });
    const refunded = await execute('refunded', { task: 'fails' });
    const left = await execute('left-open', { task: 'stays open', async: true });
    expect([paid.status, refunded.status, left.status], left.text).to.deep.equal([200, 500, 200]);
    const [paidId, refundedId, leftId] = [paid, refunded, left].map(
      ({ body }) => (body.execution_id ?? body.error.execution_id) as string,
    );
    await until('its price is in escrow', () => market.escrowExists(leftId!));
    await relay.kill();
    await market.query('ledger', 'DELETE FROM executions', 'DELETE FROM results');
    relay = await market.startRelayProcess(FORGETFUL, (text) => {
      log += text;
    });

    // An open that the ledger lacks could still land, so no unknown key is accepted. Calls without a key are.
    for (const [key, task] of Object.entries({ paid: 'once', 'left-open': 'stays open', new: 'new' })) {
      const early = await execute(key, { task });
      expect([early.status, early.body.error?.code], early.text).to.deep.equal([503, 'service_unavailable']);
      expect(Number(early.headers.get('retry-after'))).to.be.within(1, OPENS_SECONDS);
    }
    expect((await execute(null, { task: 'without a key' })).status).to.equal(200);
    expect(log.match(/the ledger lacks calls that the chain has/g)).to.have.length(1);
    expect(before - (await held())).to.equal(3n * PRICE);

    /** Answers to the calls of each age, by key. */
    const kept = new Map<string, string>();
    for (const [n, age] of AGES.entries()) {
      await market.node.timeTravel(begun + age);
      // An idle relay reads the chain's clock once a minute. This request makes it read at once.
      await request(relay.url, '/trpc/config.get');
      expect(await errorOf('paid', 'once')).to.deep.equal([410, 'result_unavailable', paidId]);
      expect(await errorOf('refunded', 'fails')).to.deep.equal([500, 'execution_failed', refundedId]);
      // Its row is an orphan's, which is refunded a minute before anyone may do it.
      const isOver = age > REFUND_SECONDS;
      const paidNow = PRICE * BigInt(2 + n) + (isOver ? 0n : PRICE);
      await until('the money is where it belongs', async () => before - (await held()) === paidNow);
      const askLeft = () => errorOf('left-open', 'stays open');
      // The price is back a moment before its row has ended.
      if (isOver) await until('its row has ended', async () => (await askLeft())[0] !== 409);
      const open = isOver ? [503, 'service_unavailable', leftId] : [409, 'request_in_progress', leftId];
      expect(await askLeft()).to.deep.equal(open);
      expect((await errorOf('paid', 'another')).slice(0, 2)).to.deep.equal([422, 'idempotency_key_reused']);
      for (const [key, text] of kept) {
        const again = await ask(key, 'new');
        expect([again.status, again.text], `${key} at ${age} s`).to.deep.equal([200, text]);
      }
      const fresh = await ask(`new-${age}`, 'new');
      expect(fresh.status, fresh.text).to.equal(200);
      kept.set(`new-${age}`, fresh.text);
    }
    expect(before - (await held())).to.equal(PRICE * BigInt(2 + AGES.length));
  });
});

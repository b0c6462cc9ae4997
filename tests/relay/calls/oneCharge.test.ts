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
import { onPostgres } from '../../harness/postgres.ts';

/** Relays share a PostgreSQL. A SQLite file belongs to one. */
const RELAYS = onPostgres ? 2 : 1;
const AGES = [300, 2_400, 72_000];
/** The agent's timeout and the grace of a refund. */
const REFUND_SECONDS = 660;
/** More than an open can still land after it was signed. */
const OPENS_SECONDS = 61;

describe(`a key on ${RELAYS === 1 ? 'one relay' : 'two relays'}`, () => {
  let running: RelayHandle[] = [];
  let log = '';
  const hear = (text: string) => {
    log += text;
  };

  /** Only the first relay has an indexer. */
  const startRelays = async (first: RelayHandle): Promise<RelayHandle[]> => {
    if (RELAYS === 1) return [first];
    return [first, await market.startRelayProcess({ WITHOUT_INDEXER: 'true' }, hear)];
  };

  const market = useMarketplace();
  before(async () => {
    running = await startRelays(market.relay);
    market.setBehaviour((body, _response, reply) => {
      if (body.task === 'fails') reply(failedAnswer(body.execution_id));
      else if (body.task !== 'stays open') {
        reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`));
      }
    });
  });
  after(async () => {
    for (const relay of running) await relay.kill();
  });

  const held = async () => (await market.balances()).callers[0]!;
  /** Its text does not depend on the address of the relay that answers. */
  async function execute(url: string, key: string | null, body: Record<string, unknown>): Promise<Answer> {
    const answer = await market.execute(url, body, { headers: key === null ? {} : { 'idempotency-key': key } });
    return { ...answer, text: answer.text.replaceAll(url, '') };
  }
  /** Moves the clock, and lets every relay read it. */
  async function travel(to: number): Promise<void> {
    await market.node.timeTravel(to);
    for (const { url } of running) await request(url, '/trpc/config.get');
  }
  /** The answer of each relay, once it does not say that it waits for the index. */
  async function ask(key: string, body: Record<string, unknown>): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (const { url } of running) {
      let answer: Answer;
      await until(`an answer to ${key}`, async () => {
        answer = await execute(url, key, body);
        return answer.status !== 503 || answer.body.error.execution_id !== null;
      });
      answers.push(answer!);
    }
    return answers;
  }

  it('gets the end that the chain shows after the ledger is lost, at every age, and charges once', async () => {
    const before = await held();
    const begun = await market.node.now();
    const paid = await execute(running[0]!.url, 'paid', { task: 'once' });
    const refunded = await execute(running[0]!.url, 'refunded', { task: 'fails' });
    const left = await execute(running[0]!.url, 'left-open', { task: 'stays open', async: true });
    expect([paid.status, refunded.status, left.status], left.text).to.deep.equal([200, 500, 200]);
    const [paidId, refundedId, leftId] = [paid, refunded, left].map(
      ({ body }) => (body.execution_id ?? body.error.execution_id) as string,
    );
    await until('its price is in escrow', () => market.escrowExists(leftId!));
    for (const relay of running) await relay.kill();
    await market.query('ledger', 'DELETE FROM executions', 'DELETE FROM results');
    running = await startRelays(await market.startRelayProcess({}, hear));

    // An open that the ledger lacks could still land, so no unknown key is accepted. Calls without a key are.
    for (const { url } of running) {
      for (const [key, task] of [
        ['paid', 'once'],
        ['left-open', 'stays open'],
        ['new', 'new'],
      ] as const) {
        const early = await execute(url, key, { task });
        expect([early.status, early.body.error?.code], early.text).to.deep.equal([503, 'service_unavailable']);
        expect(Number(early.headers.get('retry-after'))).to.be.within(1, OPENS_SECONDS);
      }
      expect((await execute(url, null, { task: 'without a key' })).status).to.equal(200);
    }
    expect(log.match(/the ledger lacks calls that the chain has/g)).to.have.length(RELAYS);
    const extra = PRICE * BigInt(RELAYS);
    expect(before - (await held())).to.equal(2n * PRICE + extra);

    /** Answers to the calls of each age, by key. */
    const kept = new Map<string, string>();
    for (const [n, age] of AGES.entries()) {
      await travel(begun + age);
      for (const again of await ask('paid', { task: 'once' })) {
        expect([again.status, again.body.error?.code], again.text).to.deep.equal([410, 'result_unavailable']);
        expect(again.body.error.execution_id).to.equal(paidId);
      }
      for (const again of await ask('refunded', { task: 'fails' })) {
        expect([again.status, again.body.error?.code], again.text).to.deep.equal([500, 'execution_failed']);
        expect(again.body.error.execution_id).to.equal(refundedId);
      }
      // Its row is an orphan's, which is refunded a minute before anyone may do it.
      const isOver = age > REFUND_SECONDS;
      const paidNow = PRICE * BigInt(1 + RELAYS + n) + (isOver ? 0n : PRICE);
      await until('the money is where it belongs', async () => before - (await held()) === paidNow);
      const askLeft = () => ask('left-open', { task: 'stays open' });
      // The price is back a moment before its row has ended.
      if (isOver) await until('its row has ended', async () => (await askLeft()).every(({ status }) => status !== 409));
      for (const again of await askLeft()) {
        expect([again.status, again.body.error?.code], again.text).to.deep.equal(
          isOver ? [503, 'service_unavailable'] : [409, 'request_in_progress'],
        );
        expect(again.body.error.execution_id).to.equal(leftId);
      }
      const other = await execute(running.at(-1)!.url, 'paid', { task: 'another' });
      expect([other.status, other.body.error.code]).to.deep.equal([422, 'idempotency_key_reused']);
      for (const [key, text] of kept) {
        for (const again of await ask(key, { task: 'new' })) {
          expect([again.status, again.text], `${key} at ${age} s`).to.deep.equal([200, text]);
        }
      }
      const fresh = await ask(`new-${age}`, { task: 'new' });
      expect(fresh.map(({ status }) => status)).to.deep.equal(running.map(() => 200));
      expect(new Set(fresh.map(({ text }) => text)).size).to.equal(1);
      kept.set(`new-${age}`, fresh[0]!.text);
    }
    expect(before - (await held())).to.equal(PRICE + extra + PRICE * BigInt(AGES.length));
  });
});

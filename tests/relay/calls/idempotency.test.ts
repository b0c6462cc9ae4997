/**
 * Idempotency-Key on the real node: one key is one execution and one charge, whatever is repeated, killed or lost. Two
 * relay processes share the ledger, and requests go to both. kills/kills.test.ts repeats calls of killed relays.
 */
import { createTransferInstruction } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { changeStatus } from '../../../app/sdk/wallet/upkeep.ts';
import { deferred, until } from '../../harness/edge/until.ts';
import {
  type Answer,
  goodAnswer,
  PRICE,
  request,
  useMarketplace,
  useRelayProcess,
} from '../../harness/node/marketplace.ts';
import { travelNearTurn } from '../../harness/node/node.ts';
import { stopAt } from '../../harness/node/standstill.ts';

describe('Idempotency-Key', () => {
  let spentBefore: bigint;

  const market = useMarketplace();
  const other = useRelayProcess(market, { WITHOUT_INDEXER: '1', STANDSTILL: '1' });
  beforeEach(async () => {
    market.setBehaviour(null);
    spentBefore = (await market.balances()).callers[0]!;
  });

  async function spent(): Promise<bigint> {
    return spentBefore - (await market.balances()).callers[0]!;
  }

  /** Its text does not depend on the address of the relay that answers. */
  async function execute(
    key: string | null,
    body: Record<string, unknown> = { task: 'once' },
    { url = market.relay.url, ...more }: { url?: string; apiKey?: string } = {},
  ): Promise<Answer> {
    const answer = await market.execute(url, body, {
      ...more,
      headers: key === null ? {} : { 'idempotency-key': key },
    });
    return { ...answer, text: answer.text.replaceAll(url, '') };
  }

  /** Repeats the call until its answer satisfies `isThere`. */
  async function repeatUntil(isThere: (answer: Answer) => boolean, call: () => Promise<Answer>): Promise<Answer> {
    let answer: Answer;
    const poll = async () => {
      answer = await call();
      return isThere(answer);
    };
    await until('the answer looked for', poll);
    return answer!;
  }

  it('repeats the answer after the agent was paused or raised its price', async () => {
    const answer = await execute('paused');
    const agentId = new PublicKey(market.agentId);
    const status = (next: 'active' | 'paused') =>
      changeStatus(market.marketplace, { wallet: keypairSigner(market.creator), agentId, status: next });
    await status('paused');
    await repeatUntil(
      (fresh) => fresh.status === 422,
      () => execute(null),
    );
    spentBefore = (await market.balances()).callers[0]!;
    expect((await execute('paused')).text).to.equal(answer.text);
    // The other relay reads one database with this one.
    const elsewhere = await execute('not-paused-before', { task: 'once' }, { url: other.url });
    expect(elsewhere.body.error.code).to.equal('agent_paused');
    await status('active');
    await repeatUntil(
      (fresh) => fresh.status === 200,
      () => execute('not-paused-before'),
    );
    expect(await spent()).to.equal(PRICE);
  });

  it('treats the same key of another wallet as another execution', async () => {
    const [one, two] = await Promise.all([
      execute('shared'),
      execute('shared', { task: 'once' }, { apiKey: market.callers[1]!.apiKey }),
    ]);
    expect([one.status, two.status]).to.deep.equal([200, 200]);
    expect(one.body.execution_id).to.not.equal(two.body.execution_id);
    expect(await spent()).to.equal(PRICE);
  });

  it('runs one of many concurrent requests across both processes, and answers 409 to the others', async () => {
    const longest = 'concurrent'.padEnd(255, '~');
    const { promise: held, resolve: release } = deferred();
    market.setBehaviour(async (body, _response, reply) => {
      await held;
      reply(goodAnswer(market.signingKey, body.execution_id, 'late'));
    });
    const urls = Array.from({ length: 8 }, (_, index) => (index % 2 ? other.url : market.relay.url));
    const waiting = new Set(urls.keys());
    const calls = urls.map(async (url, index) => {
      const answer = await execute(longest, { task: 'once' }, { url });
      waiting.delete(index);
      return answer;
    });
    await repeatUntil(
      () => waiting.size === 1,
      () => execute(longest, { task: 'once' }, { url: other.url }),
    );
    const early = await execute(longest);
    expect([early.status, early.body.error.code]).to.deep.equal([409, 'request_in_progress']);
    expect(early.headers.get('retry-after')).to.equal('1');
    release();
    const answers = await Promise.all(calls);
    const good = answers.filter((answer) => answer.status === 200);
    expect(good).to.have.length(1);
    for (const answer of answers)
      if (answer !== good[0]) expect(answer.body.error.code).to.equal('request_in_progress');
    expect(early.body.error.execution_id).to.equal(good[0]!.body.execution_id);
    for (const url of [market.relay.url, other.url]) {
      const again = await execute(longest, { task: 'once' }, { url });
      expect([again.status, again.text]).to.deep.equal([200, good[0]!.text]);
      expect(again.headers.get('idempotent-replayed')).to.equal('true');
    }
    expect(await spent()).to.equal(PRICE);
    expect(market.calls.get(early.body.error.execution_id)).to.equal(1);
  });

  it('leaves the key free after a refusal before the open', async () => {
    const refused = await execute('unbound', { task: 'once', max_cost_usdc: 0.01 });
    expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'price_changed']);
    expect(refused.body.error.details).to.deep.equal({ price_usdc: 0.25, max_cost_usdc: 0.01 });
    expect((await execute('unbound', { task: 'other' })).status).to.equal(200);
    expect(await spent()).to.equal(PRICE);
  });

  for (const key of ['', 'x'.repeat(256), 'a key', 'key\u00e9']) {
    it(`rejects: the key ${JSON.stringify(key.slice(0, 12))} of ${key.length} characters`, async () => {
      const { status, body } = await execute(key);
      expect([status, body.error.code]).to.deep.equal([400, 'invalid_request']);
      expect(body.error.details.issues[0]).to.include({ in: 'header', path: 'Idempotency-Key' });
      expect(await spent()).to.equal(0n);
    });
  }

  it('answers 409 to a repeat while the first is being claimed, and 503 if its row is taken before it is signed', async () => {
    const { url } = other;
    const stood = (task: string) => until('it stands', () => other.standing.has(task));
    const claimed = { task: stopAt('claim:before') };
    const first = execute('claimed', claimed, { url });
    await stood(claimed.task);
    const second = await execute('claimed', claimed, { url });
    expect([second.status, second.body.error.code]).to.deep.equal([409, 'request_in_progress']);
    other.release(claimed.task);
    expect((await first).status).to.equal(200);

    const taken = { task: stopAt('openSigned:before') };
    const call = execute('taken', taken, { url });
    await stood(taken.task);
    // Any relay takes a row without a living owner. Another one than its first ends it.
    const ofTask = `WHERE task = '${taken.task}'`;
    await until('another relay has ended the row', async () => {
      await market.query('ledger', `UPDATE executions SET lease_owner = 'nobody' ${ofTask} AND state = 'accepted'`);
      const [row] = await market.query('ledger', `SELECT state FROM executions ${ofTask}`);
      return row?.state === 'void';
    });
    other.release(taken.task);
    const { status, body, headers } = await call;
    expect([status, body.error.code, headers.get('retry-after')]).to.deep.equal([503, 'service_unavailable', '5']);
    expect(await spent()).to.equal(PRICE);
  });

  it('frees the key when a signed open provably did not pay', async () => {
    const { wallet, usdc, apiKey } = market.callers[1]!;
    const task = stopAt('send-open:before', 'freed');
    const doomed = await market.startRelayProcess({ WITHOUT_INDEXER: 'true', STANDSTILL: 'true' });
    const call = execute('freed', { task }, { url: doomed.url, apiKey }).catch(() => null);
    await until('it stands', () => doomed.standing.has(task));
    // While the signed open is held, the money is spent elsewhere, so the open can only fail.
    const held = await market.amountOf(usdc);
    const away = createTransferInstruction(usdc, market.creatorUsdc, wallet.publicKey, held);
    await sendTransaction(market.node.connection, [away], keypairSigner(wallet));
    await doomed.kill();
    await call;
    const again = () => execute('freed', { task }, { apiKey });
    const poor = await repeatUntil(({ status }) => status !== 409, again);
    expect([poor.status, poor.body.error.code]).to.deep.equal([402, 'insufficient_balance']);
    const executionId = (await market.executionsByTask()).get(task)!;
    expect(await market.record(executionId)).to.equal(null);

    await market.mintTo(wallet.publicKey, held);
    const answer = await execute('freed', { task: 'another' }, { apiKey });
    expect(answer.status).to.equal(200);
    expect(answer.body.result).to.equal('done: another');
    expect(await market.amountOf(usdc)).to.equal(held - PRICE);
    expect((await again()).body.error.code).to.equal('idempotency_key_reused');
  });

  it('remains one execution in the next half-hour, while it runs and after it has ended', async () => {
    const turn = await travelNearTurn(market.node);
    // An idle relay reads the chain's clock once a minute. These requests make both read at once.
    for (const { url } of [market.relay, other]) await request(url, '/trpc/config.get');
    let answerCreator: (() => void) | null = null;
    market.setBehaviour((body, _response, reply) => {
      answerCreator = () => reply(goodAnswer(market.signingKey, body.execution_id, 'before'));
    });
    const waiting = execute('turn');
    await until('the creator is asked', async () => answerCreator !== null);
    await market.node.timeTravel(turn + 20);
    const running = async (url: string) => execute('turn', { task: 'once' }, { url });
    for (const url of [market.relay.url, other.url]) {
      // Each relay learns of the new half-hour when it next reads the chain.
      await request(url, '/trpc/config.get');
      const again = await running(url);
      expect([again.status, again.body.error.code], again.text).to.deep.equal([409, 'request_in_progress']);
    }
    answerCreator!();
    const answer = await waiting;
    expect(answer.status, answer.text).to.equal(200);
    for (const url of [market.relay.url, other.url]) expect((await running(url)).text).to.equal(answer.text);
    expect(await spent()).to.equal(PRICE);
  });

  it('names the execution when only its record remains: its account is read before anything is signed', async () => {
    const { body } = await execute('lost');
    await market.untilIndexed(body.execution_id);
    await market.query('ledger', 'DELETE FROM executions', 'DELETE FROM results');
    await market.query('index', `DELETE FROM executions WHERE execution_id = '${body.execution_id}'`);
    const unknown = await execute('lost');
    expect([unknown.status, unknown.body.error.code]).to.deep.equal([409, 'request_in_progress']);
    expect(unknown.body.error.execution_id).to.equal(body.execution_id);
    expect(await spent()).to.equal(PRICE);
  });
});

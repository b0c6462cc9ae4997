/**
 * Recovery cases outside the kill matrix: stored bytes that expire during an outage, records that close during it, and
 * two relays on one ledger. A lost ledger is in operation/restoring.
 */
import { SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import { findExecution } from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { until } from '../../harness/edge/until.ts';
import {
  afterPaying,
  failedAnswer,
  goodAnswer,
  type RelayHandle,
  request,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { stopAt } from '../../harness/node/standstill.ts';

describe('recovery', () => {
  const market = useMarketplace();
  beforeEach(() =>
    market.setBehaviour((body, _response, reply) => {
      if (body.task.includes('failed')) reply(failedAnswer(body.execution_id));
      else reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`));
    }),
  );

  const relays: RelayHandle[] = [];
  /** Starts a relay that ends with the test. */
  async function start(settings: NodeJS.ProcessEnv = {}): Promise<RelayHandle> {
    const relay = await market.startRelayProcess(settings);
    relays.push(relay);
    return relay;
  }
  afterEach(async () => {
    for (const relay of relays.splice(0)) await relay.kill();
  });

  const execute = (relay: RelayHandle, task: string) => market.execute(relay.url, { task });

  /** Stops an execution of each task at its point, and kills the relay there. Returns their ids. */
  async function killAt(
    tasks: string[],
    whileStanding: (ids: string[], doomed: RelayHandle) => Promise<void> = async () => undefined,
  ) {
    const doomed = await start({ STANDSTILL: '1' });
    const calls = tasks.map((task) => execute(doomed, task).catch(() => undefined));
    await until('the executions stand', async () => tasks.every((task) => doomed.standing.has(task)));
    const byTask = await market.executionsByTask();
    const ids = tasks.map((task) => byTask.get(task)!);
    await whileStanding(ids, doomed);
    await doomed.kill();
    await Promise.all(calls);
    return ids;
  }

  /** The number of successful transactions that name the record. */
  async function succeeded(id: string): Promise<number> {
    return (await market.transactionsOf(id)).filter(({ err }) => err === null).length;
  }

  it('commits a synchronous execution to disk twice, and commits many concurrent ones together', async () => {
    const { relay } = market;
    relays.push(relay);
    const commits = async () => {
      const answer = new Promise<{ commits: number }>((resolve) =>
        relay.process!.once('message', (message) => resolve(message as { commits: number })),
      );
      relay.process!.send('figures');
      return (await answer).commits;
    };
    await execute(relay, 'warm');
    const before = await commits();
    await execute(relay, 'alone');
    const alone = await commits();
    expect(alone - before).to.equal(2);
    const answers = await Promise.all(Array.from({ length: 24 }, (_, n) => execute(relay, `together ${n}`)));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(24).fill(200));
    expect((await commits()) - alone).to.be.lessThan(48);
  });

  it('ends an expired open, and signs an expired settle and refund again', async () => {
    const before = await market.balances();
    const cases: [task: string, status: string, code: string | null, transactions: number][] = [
      [stopAt('openSigned:after', 'completed'), 'failed', 'service_unavailable', 0],
      [stopAt('send-open:sent', 'completed'), 'completed', null, 2],
      [stopAt('verified:after', 'completed'), 'completed', null, 2],
      [stopAt('send-settle:sent', 'completed'), 'completed', null, 2],
      [stopAt('send-settle:after', 'completed'), 'completed', null, 2],
      [stopAt('refunding:after', 'failed'), 'failed', 'execution_failed', 2],
      [stopAt('send-refund:sent', 'failed'), 'failed', 'execution_failed', 2],
    ];
    const ids = await killAt(cases.map(([task]) => task));
    await market.outliveOpens();
    const relay = await start();
    for (const [index, [task, status, code, transactions]] of cases.entries()) {
      const id = ids[index]!;
      const body = await market.endOf(relay.url, id);
      expect([body.status, body.error?.code ?? null], task).to.deep.equal([status, code]);
      expect(await succeeded(id), task).to.equal(transactions);
      expect(await market.escrowExists(id), task).to.equal(false);
    }
    expect(await market.balances()).to.deep.equal(afterPaying(before, 4n));
  });

  it('ends calls whose records were closed while all relays were down as the index says, and sends nothing', async () => {
    const before = await market.balances();
    const tasks = [stopAt('settled:before', 'archived'), stopAt('refunded:before', 'failed, closed')];
    const ids = await killAt(tasks, (ids) => market.untilIndexed(...ids));
    const owner = SystemProgram.programId.toBase58();
    for (const id of ids) {
      const record = findExecution(parseUuid(id)!).toBase58();
      await market.node.rpc('surfnet_setAccount', [record, { lamports: 0, data: '', owner }]);
    }
    const [paid, refunded] = ids;
    const relay = await start();
    const statesOf = () => Promise.all(ids.map(market.stateOf));
    await until(
      'the relay has read that they are gone',
      async () => (await market.query('ledger', `SELECT 1 FROM executions WHERE lease_owner IS NOT NULL`)).length > 0,
    );
    expect(await statesOf()).to.deep.equal(['verified', 'refunding']);
    await market.query('index', `UPDATE executions SET closed = 1 WHERE execution_id IN ('${paid}', '${refunded}')`);
    await until('both have ended', async () => String(await statesOf()) === 'settled,refunded');
    expect(await market.endOf(relay.url, paid!)).to.include({ status: 'completed', cost_usdc: 0.25 });
    expect(await market.endOf(relay.url, refunded!)).to.include({ status: 'failed', cost_usdc: 0, refund: 'done' });
    expect(await market.balances()).to.deep.equal(afterPaying(before, 1n));
    for (const id of ids) expect(await succeeded(id)).to.equal(2);
  });

  describe('with two relays', () => {
    let first: RelayHandle;
    let second: RelayHandle;
    before(async () => {
      [first, second] = await Promise.all([
        market.startRelayProcess({ WITHOUT_INDEXER: '1' }),
        market.startRelayProcess(),
      ]);
    });
    after(() => Promise.all([first, second].map((relay) => relay?.kill())));

    /** Stops the process while it does not write; otherwise it would block SQLite for everybody else. */
    async function freeze({ process }: RelayHandle): Promise<void> {
      const write = () => market.query('ledger', "DELETE FROM relays WHERE owner = 'nobody'");
      await until('it stands still and holds no lock', async () => {
        process!.kill('SIGSTOP');
        const isFree = await write().then(
          () => true,
          () => false,
        );
        if (!isFree) process!.kill('SIGCONT');
        return isFree;
      });
    }

    it('settles once with the stored result when a relay is stopped past its lease during a call', async () => {
      const before = await market.balances();
      const answers: ((result: string) => void)[] = [];
      market.setBehaviour((body, _response, reply) => {
        answers.push((result) => reply(goodAnswer(market.signingKey, body.execution_id, result)));
      });
      const call = (relay: RelayHandle) =>
        market.execute(relay.url, { task: 'asked twice' }, { headers: { 'idempotency-key': 'asked-twice' } });
      const waiting = call(first);
      await until('the first relay asks', () => answers.length === 1);
      await freeze(first);
      answers[0]!('the first answer');
      await until('the second relay asks again', async () => answers.length === 2);
      first.process!.kill('SIGCONT');
      // By the time the first relay answers other requests, it has received the first answer.
      await until('the first relay goes on', async () => (await request(first.url, '/health')).status === 200);
      await new Promise((resolve) => setTimeout(resolve, 500));
      const id = (await market.executionsByTask()).get('asked twice')!;
      expect((await market.record(id))?.status).to.equal('open');
      answers[1]!('the second answer');
      const answer = await waiting;
      expect([answer.status, answer.body.result], answer.text).to.deep.equal([200, 'the second answer']);
      // The addresses of results are those of the relay that answers.
      const again = (await call(second)).text.replaceAll(second.url, first.url);
      expect(again).to.equal(answer.text);
      expect((await call(first)).text).to.equal(answer.text);
      const stored = (await market.journal()).find((row) => row.execution_id === id)!;
      const record = (await market.record(id))!;
      expect(String(stored.result)).to.equal('the second answer');
      expect(stored.result_hash).to.equal(`sha256:${Buffer.from(record.resultHash).toString('hex')}`);
      expect(await succeeded(id)).to.equal(2);
      expect(await market.balances()).to.deep.equal(afterPaying(before, 1n));
    });
  });
});

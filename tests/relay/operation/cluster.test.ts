/**
 * The relay on clusters that are slow, stand still, were restarted, or lack features; with a node that shows the past, or
 * has too many records for a search; and an address that it cannot listen on.
 */
import { randomUUID } from 'node:crypto';
import { SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import { CLOCK_ADDRESS } from '../../../app/sdk/program/clock.ts';
import { findExecution } from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { NEEDED_FEATURES } from '../../../app/solana/features.ts';
import { FAST, readFinality, SLOW } from '../../../app/solana/finality.ts';
import { LAST_RESTART_ADDRESS } from '../../../app/solana/lastRestart.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  afterPaying,
  goodAnswer,
  type RelayHandle,
  request,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { changing, changingEach, type RpcProxy, startRpcProxy, withoutFeatures } from '../../harness/node/rpcProxy.ts';
import { stopAt } from '../../harness/node/standstill.ts';

/** More accounts than a relay reads at once. */
const LOST = 5;

const problemsOf = async ({ url }: RelayHandle): Promise<string[]> => (await request(url, '/ready')).body.problems;

describe('the cluster', () => {
  /** The running one. */
  let relay: RelayHandle;
  let proxy: RpcProxy;
  const market = useMarketplace({
    slotTimeMs: 100,
    async environment(node) {
      proxy = await startRpcProxy(node);
      return proxy.environment;
    },
  });
  before(() => {
    relay = market.relay;
  });
  afterEach(() => proxy.onCall(null));
  after(async () => {
    await relay.kill();
    await proxy.close();
  });

  const execute = ({ url }: RelayHandle, task: string) => market.execute(url, { task });

  /**
   * The node's final blocks stop in the past, while it goes on at `processed`. In that past, the account `without` did not
   * exist. Returns how often it was asked for.
   */
  function stopFinality(without?: string): () => number {
    let asked = 0;
    const rules = [
      changing('getEpochInfo', (info) => ({ ...info, absoluteSlot: 1, blockHeight: 1 })),
      changing('getSignatureStatuses', () => ({ context: { slot: 1 }, value: [null] })),
      changingEach('getMultipleAccounts', (account, at, [addresses]) => {
        const address = (addresses as string[])[at];
        if (address === without) {
          asked += 1;
          return null;
        }
        if (address !== CLOCK_ADDRESS.toBase58()) return account;
        const data = Buffer.from(account.data[0], 'base64');
        data.writeBigInt64LE(data.readBigInt64LE(32) - 3_600n, 32);
        return { ...account, data: [data.toString('base64'), 'base64'] };
      }),
    ];
    proxy.onCall(async (...call) => {
      for (const rule of rules) {
        const reply = await rule(...call);
        if (reply) return reply;
      }
      return null;
    });
    return () => asked;
  }

  it('does not start on a cluster without the features that the program needs, and names each', async () => {
    proxy.onCall(withoutFeatures);
    const started = startRelayHere(market, proxy.environment);
    const refusal = await started.then(
      () => 'it started',
      (error: Error) => error.message,
    );
    for (const { key, name } of NEEDED_FEATURES) expect(refusal).to.include(`${name} (feature ${key})`);
  });

  it('names the setting of an address that it cannot listen on', async () => {
    const { port } = new URL(relay.url);
    const wrong: [settings: NodeJS.ProcessEnv, message: string][] = [
      [{ PORT: port }, `PORT ${port} of 127.0.0.1 is in use by another process. Stop it, or set another PORT.`],
      [{ HOST: '192.0.2.1' }, 'HOST 192.0.2.1 is not an address of this machine.'],
    ];
    for (const [settings, message] of wrong) {
      const refusal = await startRelayHere(market, settings).then(
        () => 'it started',
        (error: Error) => error.message,
      );
      expect(refusal).to.equal(message);
    }
  });

  it('is known by the certificate of any node, and slow only if a node says so or none can say', async () => {
    const { rpcUrl } = market.node;
    let unknown = 0;
    const read = (...urls: string[]) => readFinality(urls, () => (unknown += 1));
    expect(await read(rpcUrl)).to.equal(FAST);
    const old = { json: { jsonrpc: '2.0', id: 1, error: { code: -32_601, message: 'Method not found' } } };
    for (const reply of [old, { status: 403 }]) {
      proxy.onCall(() => reply);
      expect(await read(proxy.rpcUrl, rpcUrl)).to.equal(FAST);
    }
    expect(unknown).to.equal(0);
    expect([await read(proxy.rpcUrl), unknown]).to.deep.equal([SLOW, 1]);
    proxy.onCall(() => ({ json: { jsonrpc: '2.0', id: 1, result: null } }));
    expect([await read(proxy.rpcUrl, rpcUrl), unknown]).to.deep.equal([SLOW, 1]);
    proxy.onCall(() => 'cut');
    const failure = await read(proxy.rpcUrl).catch((error: Error) => error);
    expect([failure instanceof Error, unknown]).to.deep.equal([true, 1]);
  });

  it('takes no new calls while the final blocks are old, although the node goes on, and serves again after that', async () => {
    expect((await execute(relay, 'before')).status).to.equal(200);
    const before = await market.balances();
    stopFinality();
    await until('it is behind', async () => (await problemsOf(relay)).includes('chain_behind'));
    const refused = await execute(relay, 'behind');
    expect([refused.status, refused.body.error.code], refused.text).to.deep.equal([503, 'service_unavailable']);
    expect(refused.body.error.message).to.include('no recent final block');
    const { advice } = (await request(relay.url, '/ready')).body;
    expect(advice.join()).to.include('newest final block of the node is old');
    expect(await market.balances()).to.deep.equal(before);
    proxy.onCall(null);
    await until('it is ready', async () => (await problemsOf(relay)).length === 0);
    expect((await execute(relay, 'after')).status).to.equal(200);
  });

  it('decides nothing from a node that was restarted from an old snapshot, and pays once when it has caught up', async () => {
    const before = await market.balances();
    await relay.kill();
    relay = await market.startRelayProcess({ STANDSTILL: '1' });
    const task = stopAt('send-open:after', 'old snapshot');
    const call = execute(relay, task).catch(() => undefined);
    await until('the open has landed', async () => relay.standing.has(task));
    const id = (await market.executionsByTask()).get(task)!;
    await relay.kill();
    await call;
    expect((await market.record(id))?.status).to.equal('open');
    await market.node.outlive();
    await market.node.timeTravel((await market.node.now()) + 61);
    const asked = stopFinality(findExecution(parseUuid(id)!).toBase58());
    relay = await market.startRelayProcess();
    await until('it has looked for its open several times', async () => asked() > 3);
    expect(await problemsOf(relay)).to.include('chain_behind');
    expect(await market.stateOf(id)).to.equal('open_signed');
    proxy.onCall(null);
    await until('it has ended', async () => (await market.stateOf(id)) === 'settled');
    expect(market.calls.get(id)).to.equal(1);
    const after = await market.balances();
    expect(after).to.deep.equal(afterPaying(before));
  });

  it('takes no new calls after a restart until index and ledger fit it, and takes back what the chain does not show', async () => {
    await until('it is ready', async () => (await problemsOf(relay)).length === 0);
    const ids: string[] = [];
    for (const task of ['lost', 'other end', 'as before']) ids.push((await execute(relay, task)).body.execution_id);
    const [lost, other, kept] = ids;
    await market.untilIndexed(...ids);
    const before = await market.balances();
    // No block can take the lost open again.
    await market.node.outlive();
    // As if the chain had lost the one and ended the other.
    const gone = randomUUID();
    await market.query(
      'ledger',
      `UPDATE executions SET execution_id = '${gone}' WHERE execution_id = '${lost}'`,
      `UPDATE executions SET state = 'refunded' WHERE execution_id = '${other}'`,
    );
    const owner = SystemProgram.programId.toBase58();
    const slot = Buffer.alloc(8);
    slot.writeBigUInt64LE(77n);
    const sysvar = { lamports: 1, data: slot.toString('hex'), owner };
    await market.node.rpc('surfnet_setAccount', [LAST_RESTART_ADDRESS.toBase58(), sysvar]);
    await until('it has noticed', async () => (await problemsOf(relay)).includes('chain_restarted'));
    const refused = await execute(relay, 'refused');
    expect([refused.status, refused.body.error.code], refused.text).to.deep.equal([503, 'service_unavailable']);
    await until('the index is built again, and the relay is ready', async () => (await problemsOf(relay)).length === 0);
    await until('the other one has ended as its record says', async () => (await market.stateOf(other!)) === 'settled');
    expect([await market.stateOf(gone), await market.stateOf(kept!)]).to.deep.equal(['void', 'settled']);
    expect(await market.balances()).to.deep.equal(before);
    expect((await execute(relay, 'after the restart')).status).to.equal(200);
    // The next start compares nothing.
    const stored = await market.query('ledger', 'SELECT restart_slot FROM cluster');
    expect(stored).to.deep.equal([{ restart_slot: 77n }]);
  });

  it('accepts calls and refunds orphans once ledger and index agree, without getProgramAccounts', async () => {
    market.setBehaviour((body, _response, reply) => {
      if (body.task !== 'lost') reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`));
    });
    const start = await market.balances();
    const lose = async (): Promise<string> => {
      const { status, body, text } = await market.execute(relay.url, { task: 'lost', async: true });
      expect(status, text).to.be.oneOf([200, 202]);
      return body.execution_id;
    };
    const lost = await Promise.all(Array.from({ length: LOST }, lose));
    const open = "SELECT record FROM executions WHERE status = 'open'";
    await until('the index has them', async () => (await market.query('index', open)).length === LOST);
    await relay.kill();
    await market.forgetExecutions();

    let searches = 0;
    proxy.onCall(({ method }) => {
      if (method !== 'getProgramAccounts') return null;
      searches += 1;
      return 'silence';
    });
    relay = await market.startRelayProcess();
    let served!: Answer;
    await until('a call is taken', async () => {
      served = await market.execute(relay.url, { task: 'new' });
      if (served.status === 503) expect(served.body.error.code).to.equal('service_unavailable');
      return served.status !== 503;
    });
    expect(served.status).to.equal(200);
    expect(searches).to.be.greaterThan(0);
    const states = (await market.journal()).map(({ execution_id, state }) => [execution_id, state]);
    expect(states).to.have.deep.members([...lost.map((id) => [id, 'parked']), [served.body.execution_id, 'settled']]);

    const records = await Promise.all(lost.map((id) => market.record(id)));
    const latest = records.reduce((last, record) => Math.max(last, Number(record!.refundAt)), 0);
    await market.node.timeTravel(latest);
    const areRefunded = async () => (await market.countRecords(lost, 'refunded')) === LOST;
    await until('the lost ones are refunded', areRefunded);
    expect(await market.balances()).to.deep.equal(afterPaying(start));
  });
});

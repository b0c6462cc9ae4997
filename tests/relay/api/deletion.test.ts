/** DELETE /v1/executions/{execution_id}/content: when a caller can delete task and result, and which data stay. */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import pino from 'pino';
import { keepResults } from '../../../app/relay/execution/keeping.ts';
import { verifyReceipt } from '../../../app/sdk/receipt/verify.ts';
import type { ExecutionRow } from '../../../indexer/queries/tables.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, type TestKey } from '../../harness/edge/rows.ts';
import { sessionsOf } from './sessions.ts';

const SECRET = 'the diagnosis of patient 17';
const WINDOW = 259_200;
const AFTER = (EPOCH + 3 + WINDOW + 60) * 1_000;

describe('DELETE /v1/executions/{execution_id}/content', () => {
  const wallet = Keypair.generate();
  let key: TestKey;
  let listing: string;
  const world = useWorld();
  before(async () => {
    await world.addChain();
    key = await world.addKey({ wallet: wallet.publicKey.toBase58(), expiresAt: EPOCH + 10 * WINDOW });
    listing = await world.addListing();
  });
  beforeEach(() => {
    world.state.nowMs = AFTER;
  });

  const remove = (id: string) => world.call(`/v1/executions/${id}/content`, { method: 'DELETE', key: key.apiKey });
  const read = async (id: string) => (await world.get(`/v1/executions/${id}`, key.apiKey)).json;

  /** A settled execution with the secret in all of its content, and its record. */
  async function addSettled(changes: Partial<ExecutionRow> = {}): Promise<string> {
    const call = { task: SECRET, parameters: { text: SECRET }, result: SECRET };
    const { execution_id: id } = await world.addSettled({ wallet: key.wallet, listing }, call, changes);
    const steps = JSON.stringify([SECRET]);
    await world.ledger.updateTable('results').set({ steps }).where('execution_id', '=', id).execute();
    return id;
  }

  /** Everything that the ledger stores about an execution, as text. */
  async function stored(id: string): Promise<string> {
    const tables = ['executions', 'transactions', 'results', 'failed_answers'] as const;
    const all = tables.map((table) => world.ledger.selectFrom(table).selectAll().execute());
    const rows = (await Promise.all(all)).flat().filter(({ execution_id }) => execution_id === id);
    const values = rows.flatMap((row) => Object.values(row));
    return values.map((value) => (Buffer.isBuffer(value) ? value.toString('utf8') : String(value))).join('\n');
  }

  it('deletes task, parameters, result and steps, and keeps hashes, amounts and signatures', async () => {
    const id = await addSettled();
    const before = await read(id);
    const { json: saved, status: found } = await world.get(`/v1/executions/${id}/receipt`, key.apiKey);
    expect(found, JSON.stringify(saved)).to.equal(200);
    expect(await stored(id)).to.include(SECRET);
    const asked = async (by: Keypair) => {
      const session = await sessionsOf(() => world).signIn(by);
      return session.call('executions.asked', { execution_id: id });
    };
    expect(await asked(wallet)).to.deep.equal({ asked: { task: SECRET, parameters: { text: SECRET } } });
    expect(await asked(Keypair.generate())).to.deep.equal({ asked: null });
    const { status, json } = await remove(id);
    const content_deleted_at = new Date(AFTER).toISOString();
    expect([status, json]).to.deep.equal([200, { execution_id: id, content_deleted_at }]);
    expect(await stored(id)).not.to.include(SECRET);
    expect(await asked(wallet)).to.deep.equal({ asked: null });
    const gone = { task: null, result: null, steps: null, ipfs_url: null, content_deleted_at };
    expect(await read(id)).to.deep.equal({ ...before, ...gone });
    expect((await fetch(before.ipfs_url)).status).to.equal(410);
    // A repeated request gets the same answer.
    world.state.nowMs += 5_000;
    expect((await remove(id)).json).to.deep.equal(json);

    const { task, parameters, result, ...rest } = saved;
    const receipt = (await world.get(`/v1/executions/${id}/receipt`, key.apiKey)).json;
    expect([task, parameters, result]).to.deep.equal([SECRET, { text: SECRET }, SECRET]);
    expect(receipt).to.deep.equal(rest);
    const states = async (given: unknown) =>
      (await verifyReceipt(given, { rpcUrl: null })).slice(0, 4).map(({ state }) => state);
    const statesOf = (hashes: string) => ['passed', hashes, 'passed', hashes];
    expect(await states(saved)).to.deep.equal(statesOf('passed'));
    expect(await states(receipt)).to.deep.equal(statesOf('not_checked'));
  });

  it('hides a result in the object storage at once, and drops it with the next run', async () => {
    const id = await addSettled();
    const moved = { result: null, object_stored: 1n as const, verified_ms: BigInt(AFTER) };
    await world.ledger.updateTable('results').set(moved).where('execution_id', '=', id).execute();
    await remove(id);
    expect(await read(id)).to.include({ result: null, ipfs_url: null });
    const dropped: string[] = [];
    const objects = {
      put: async () => expect.fail('nothing is moved'),
      get: async () => expect.fail('nothing is read'),
      drop: async (executionId: string) => void dropped.push(executionId),
    };
    const { ledger, views, now } = world.deps;
    const settings = { retentionDays: 30 };
    await keepResults({ ledger, views, objects, settings, now, log: pino({ level: 'silent' }) });
    expect(dropped).to.deep.equal([id]);
  });

  it('deletes the request of a failed execution, the message that may quote it, and the raw answer', async () => {
    const refunded = { state: 'refunded', refund_state: 'done', error_code: 'execution_failed' } as const;
    const secrets = { task: SECRET, error_message: `cannot read ${SECRET}` };
    const id = await world.addJournal({ wallet: key.wallet, listing, ...refunded, ...secrets });
    const body = Buffer.from(`{"error":"${SECRET}"}`);
    const answer = { execution_id: id, http_status: 200n, body, is_cut: 0n, duration_ms: 9n, answered_ms: 1n };
    await world.ledger.insertInto('failed_answers').values(answer).execute();
    world.state.nowMs = (EPOCH + 60) * 1_000;
    expect((await remove(id)).status).to.equal(200);
    expect(await stored(id)).not.to.include(SECRET);
    const message = 'Its caller deleted the content of this call';
    expect((await read(id)).error).to.deep.equal({ code: 'execution_failed', message });
  });

  describe('rejects, and deletes nothing:', () => {
    async function refuses(id: string, expected: [string, object | null]): Promise<void> {
      const { outcome, json } = await remove(id);
      expect([outcome, json.error.details]).to.deep.equal(expected);
      expect(await stored(id)).to.include(SECRET);
    }
    const needed = (reason: string, until: string | null = null): [string, object] => {
      return ['409 content_needed', { reason, until }];
    };

    it('an execution that runs, or that can still be disputed, until its window is over', async () => {
      const row = { wallet: key.wallet, listing, task: SECRET };
      await refuses(await world.addJournal({ ...row, state: 'dispatched' }), needed('not_ended'));
      const id = await addSettled();
      world.state.nowMs = AFTER - 1_000;
      await refuses(id, needed('dispute_window', new Date(AFTER).toISOString()));
      world.state.nowMs = AFTER;
      expect((await remove(id)).status).to.equal(200);
    });

    it('a disputed execution; a decided dispute is no obstacle, even within the window', async () => {
      await refuses(await addSettled({ status: 'disputed', dispute_count: 1n }), needed('disputed'));
      world.state.nowMs = (EPOCH + 60) * 1_000;
      for (const status of ['completed', 'dispute_upheld'] as const)
        expect((await remove(await addSettled({ status, dispute_count: 1n }))).status).to.equal(200);
    });

    it('an execution whose end the index does not have yet', async () => {
      const row = { wallet: key.wallet, listing, state: 'settled' as const, task: SECRET };
      await refuses(await world.addJournal(row), ['503 service_unavailable', null]);
    });
  });
});

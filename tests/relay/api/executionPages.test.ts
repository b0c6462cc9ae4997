/** GET /v1/executions: its fields and parameters. operation/executionLists has the orders and filters of all pages. */
import { expect } from 'chai';
import { idOf, tailOf } from '../../../app/relay/calls/idempotency.ts';
import { ApiError } from '../../../app/relay/errors.ts';
import { deleteContent } from '../../../app/relay/ledger/content.ts';
import { NO_KEY } from '../../../app/relay/ledger/funding.ts';
import { nonceHalfHour } from '../../../app/sdk/receipt/receipt.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, type TestKey } from '../../harness/edge/rows.ts';
import { idsOf } from './sessions.ts';

const FIELDS = `execution_id agent_id agent_name task key_id key_name deposit status error refund dispute cost_usdc
  refunded_usdc returned_usdc initiated_at completed_at execution_time_ms on_chain_record`.split(/\s+/);

const at = (seconds: number): string => new Date((EPOCH + seconds) * 1000).toISOString();

describe('GET /v1/executions', () => {
  let key: TestKey;
  const listings: string[] = [];
  const mine: { id: string; listing: string; status: string; opened: number }[] = [];

  const world = useWorld();
  before(async () => {
    key = await world.addKey();
    for (let n = 0; n < 2; n += 1) listings.push(await world.addListing({}, { name: `agent-${n}` }));
    const kinds = {
      settled: 'completed',
      refunded: 'failed',
      dispatched: 'running',
      open_confirmed: 'pending',
    } as const;
    const states = Object.keys(kinds) as (keyof typeof kinds)[];
    // Executions of this wallet and of another. The last ones are in the index, one of them also in the journal.
    for (let n = 0; n < 21; n += 1) {
      const [listing, opened] = [listings[n % 2]!, n * 10];
      const state = states[n % states.length]!;
      const times = { opened_at: BigInt(EPOCH + opened), settled_at: BigInt(EPOCH + opened + 2) };
      const add = async (wallet: string): Promise<string> => {
        if (n < 19) return world.addJournal({ wallet, listing, state, ...times });
        const row = { caller: wallet, listing, ...times };
        if (n === 19) return world.addRecord({ ...row, status: 'disputed' });
        const id = await world.addJournal({ wallet, listing, state: 'settled', ...times });
        return world.addRecord({ ...row, execution_id: id });
      };
      await add(newAddress());
      const status = n < 19 ? kinds[state] : n === 19 ? 'disputed' : 'completed';
      mine.unshift({ id: await add(key.wallet), listing, status, opened });
    }
    await world.addJournal({ wallet: key.wallet, listing: listings[0]!, state: 'accepted', opened_at: null });
  });

  it('returns summaries with every field and nothing else, newest first', async () => {
    const { status, json } = await world.get('/v1/executions?limit=100', key.apiKey);
    expect(status).to.equal(200);
    expect(json).to.include({ total: 21, limit: 100, offset: 0 });
    expect(idsOf(json.executions)).to.deep.equal(mine.map(({ id }) => id));
    for (const [index, row] of json.executions.entries()) {
      expect(row).to.have.all.keys(...FIELDS);
      const { listing, status, opened } = mine[index]!;
      expect(row).to.include({
        agent_id: listing,
        agent_name: `agent-${listings.indexOf(listing)}`,
        status,
        cost_usdc: status === 'failed' ? 0 : 0.25,
        initiated_at: at(opened),
      });
    }
  });

  it('shows the beginning of a task until it is deleted, and names only the keys of its wallet', async () => {
    const other = await world.addKey();
    const times = { settled_at: BigInt(EPOCH + 500) };
    const row = { wallet: other.wallet, listing: listings[0]!, key_id: other.keyId, ...times };
    const id = await world.addJournal({ ...row, state: 'settled', task: `${'ä'.repeat(200)}!` });
    // Its id is public: anybody can name the key of another wallet.
    await world.addJournal({ ...row, key_id: key.keyId, state: 'settled' });
    await world.addJournal({ ...row, key_id: NO_KEY, state: 'settled' });
    // Anybody can register hashes that begin with it, but only the key itself is ever used.
    const used = { last_used_ms: 1n };
    await world.ledger.updateTable('api_keys').set(used).where('key_hash', '=', other.keyHash).execute();
    const of = { wallet: other.wallet, key_id: other.keyId, name: 'a stranger’s', created_ms: 0n };
    for (const end of ['0', 'f']) {
      const stranger = { ...of, key_hash: other.keyId + end.repeat(32), last_used_ms: null, revoked_ms: null };
      await world.ledger.insertInto('api_keys').values(stranger).execute();
    }
    const read = async () => (await world.get('/v1/executions', other.apiKey)).json.executions;
    const shown: Record<string, unknown>[] = await read();
    const payers = shown.map(({ key_id, key_name }) => [key_id, key_name]);
    expect(payers).to.have.deep.members([
      [other.keyId, 'laptop'],
      [key.keyId, null],
      [null, null],
    ]);
    const { json } = await world.get(`/v1/executions?key_id=${key.keyId}`, other.apiKey);
    expect(json).to.deep.include({ total: 1, executions: shown.filter(({ key_id }) => key_id === key.keyId) });
    const taskOf = (rows: Record<string, unknown>[]) => rows.find(({ execution_id }) => execution_id === id)!.task;
    expect(taskOf(shown)).to.equal('ä'.repeat(200));
    await deleteContent(world.ledger, id, EPOCH * 1_000);
    expect(taskOf(await read())).to.equal(null);
  });

  it("finds the execution of a call by its Idempotency-Key, only the wallet's own", async () => {
    const { wallet, apiKey } = await world.addKey();
    const other = await world.addKey();
    const idempotencyKey = 'order/7+8';
    const nonce = `01020304${tailOf(idempotencyKey).toString('hex')}`;
    const call = { listing: listings[0]!, nonce, fingerprint: '00' };
    const id = await world.addJournal({ ...call, wallet, state: 'dispatched' });
    const found = async (asked: string, by = apiKey) => {
      const { status, json } = await world.get(`/v1/executions?${asked}`, by);
      expect(status, JSON.stringify(json)).to.equal(200);
      return [json.total, idsOf(json.executions)];
    };
    const asked = `idempotency_key=${encodeURIComponent(idempotencyKey)}`;
    expect(await found(asked)).to.deep.equal([1, [id]]);
    expect(await found(`${asked}&status=running&agent_id=${listings[0]}&limit=1`)).to.deep.equal([1, [id]]);
    expect(await found(`${asked}&status=failed`)).to.deep.equal([0, []]);
    expect(await found(`${asked}&offset=1`)).to.deep.equal([1, []]);
    expect(await found(`idempotency_key=order`)).to.deep.equal([0, []]);
    expect(await found(asked, other.apiKey)).to.deep.equal([0, []]);
    const bad = await world.get('/v1/executions?idempotency_key=a%20b', apiKey);
    expect([bad.status, bad.json.error.details.issues[0].path]).to.deep.equal([400, 'idempotency_key']);
  });

  it('finds a call by its Idempotency-Key in the index alone, and one that was never paid', async () => {
    const { wallet, apiKey } = await world.addKey();
    const halfHour = nonceHalfHour(BigInt(EPOCH));
    const idFor = (key: string, ago: number) => idOf(wallet, tailOf(key), halfHour - ago);
    const listing = listings[0]!;
    const lost = await world.addRecord({ execution_id: idFor('lost', 40), caller: wallet, listing });
    const journal = { wallet, listing, fingerprint: '00', nonce: `01020304${tailOf('void').toString('hex')}` };
    await world.addJournal({ ...journal, execution_id: idFor('void', 1), state: 'void' });
    const statusesOf = async (key: string) =>
      (await world.get(`/v1/executions?idempotency_key=${key}`, apiKey)).json.executions.map(
        (row: { execution_id: string; status: string }) => [row.execution_id, row.status],
      );
    expect(await statusesOf('lost')).to.deep.equal([[lost, 'completed']]);
    expect(await statusesOf('void')).to.deep.equal([[idFor('void', 1), 'failed']]);
    // An empty list would say that there is no such call.
    world.state.lostCalls = new ApiError('service_unavailable', 'The ledger may lack calls', { retryAfterSeconds: 5 });
    const asked = ['?idempotency_key=none', ''].map((query) => world.get(`/v1/executions${query}`, apiKey));
    const answers = await Promise.all(asked);
    world.state.lostCalls = null;
    expect(answers.map(({ status }) => status)).to.deep.equal([503, 200]);
  });

  const time = (seconds: number): string => encodeURIComponent(at(seconds));
  const FILTERS: [name: string, query: () => string, kept: (row: (typeof mine)[number]) => boolean][] = [
    ['from a fraction before a second', () => 'from=2025-10-09T08:54:39.999999Z', (row) => row.opened >= 80],
    ['from a fraction after a second', () => 'from=2025-10-09T08:54:40.000001Z', (row) => row.opened > 80],
    ['to a fraction after a second', () => 'to=2025-10-09T08:54:40.0001Z', (row) => row.opened <= 80],
    ['from in another zone', () => 'from=2025-10-09T10:54:40%2B02:00', (row) => row.opened > 80],
    ['from without seconds', () => 'from=2025-10-09T08:54Z', (row) => row.opened > 40],
    [
      'everything',
      () => `status=completed&agent_id=${listings[0]}&from=${time(0)}&to=${time(150)}`,
      (row) => row.status === 'completed' && row.listing === listings[0] && row.opened > 0 && row.opened < 150,
    ],
  ];
  it('filters by every parameter, and by times in every form', async () => {
    for (const [name, query, kept] of FILTERS) {
      const { json } = await world.get(`/v1/executions?limit=100&${query()}`, key.apiKey);
      const expected = mine.filter(kept).map(({ id }) => id);
      expect([json.total, idsOf(json.executions)], name).to.deep.equal([expected.length, expected]);
    }
  });

  const REFUSED: [query: string, parameter: string][] = [
    ['status=done', 'status'],
    ['agent_id=x', 'agent_id'],
    ['key_id=x', 'key_id'],
    ['from=2025-10-09', 'from'],
    ['from=2025-10-09T08:54:40', 'from'],
    ['from=2025-02-30T00:00:00Z', 'from'],
    ['from=2025-10-09T10:54:40+02:00', 'from'],
    ['to=2025-10-09T08:54:40', 'to'],
    ['since=2025-10-09T08:54:40Z', 'since'],
  ];
  it('rejects: parameters out of their range, and names them', async () => {
    for (const [query, parameter] of REFUSED) {
      const { outcome, json } = await world.get(`/v1/executions?${query}`, key.apiKey);
      expect([outcome, json.error.execution_id], query).to.deep.equal(['400 invalid_request', null]);
      expect(json.error.message, query).to.include(`"${parameter}"`);
    }
  });
});

import { expect } from 'chai';
import pino from 'pino';
import { keepResults } from '../../../app/relay/execution/keeping.ts';
import { createReadText, createResultObjects, type ResultObjects } from '../../../app/relay/outbound/resultObjects.ts';
import { startWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH } from '../../harness/edge/rows.ts';
import { until } from '../../harness/edge/until.ts';
import {
  afterPaying,
  goodAnswer,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { onPostgres } from '../../harness/postgres.ts';
import { type Storage, startStorage } from '../../harness/storage.ts';

const LARGE = 'r'.repeat(100_000);
const DAY_MS = 86_400_000;
const log = pino({ level: 'silent' });

describe('results whose storage is away', () => {
  let storage: Storage;
  let world: World;
  let objects: ResultObjects;
  before(async () => {
    storage = await startStorage();
    objects = createResultObjects(storage.settings, 5_000);
    world = await startWorld({ readText: createReadText(objects, log) });
  });
  beforeEach(() => {
    storage.state.weather = 'fair';
    world.state.nowMs = EPOCH * 1_000;
  });
  after(async () => {
    await world.stop();
    await storage.stop();
  });

  async function keep(): Promise<'kept' | 'not kept'> {
    const { ledger, views } = world.deps;
    const settings = { retentionDays: 30, objectBytes: 65_536 };
    const kept = keepResults({ ledger, views, objects, settings, now: () => world.state.nowMs, log });
    return kept.then(
      () => 'kept',
      () => 'not kept',
    );
  }
  async function settled(text: string) {
    const { wallet, apiKey } = await world.addKey({ expiresAt: 2 * EPOCH });
    const listing = await world.addListing();
    const id = await world.addJournal({ wallet, listing, state: 'settled', settled_at: BigInt(EPOCH + 2) });
    const token = await world.addResult(id, text);
    return {
      id,
      readText: () => world.get(`/results/${id}/${token}`),
      readRecord: () => world.get(`/v1/executions/${id}`, apiKey),
    };
  }
  async function isMoved(id: string): Promise<boolean> {
    const row = world.ledger.selectFrom('results').select('object_stored').where('execution_id', '=', id);
    return (await row.executeTakeFirstOrThrow()).object_stored === 1n;
  }

  it('move into a slow storage, and are read from there', async () => {
    const large = await settled(LARGE);
    storage.state.weather = 'slow';
    expect(await keep()).to.equal('kept');
    expect(await isMoved(large.id)).to.equal(true);
    expect((await large.readText()).text === LARGE).to.equal(true);
    expect((await large.readRecord()).json.result === LARGE).to.equal(true);
  });

  for (const weather of ['hangs', 'trickles', 'refuses'] as const) {
    it(`stay in the ledger while the storage ${weather}, and readers of a moved result are told to retry`, async () => {
      const moved = await settled(LARGE);
      await keep();
      const large = await settled(LARGE);
      storage.state.weather = weather;
      const [kept, ...answers] = await Promise.all([keep(), moved.readText(), moved.readRecord(), large.readText()]);
      expect([kept, await isMoved(large.id)]).to.deep.equal(['not kept', false]);
      for (const { status, json, headers } of answers.slice(0, 2)) {
        expect([status, json.error.code, json.error.execution_id]).to.deep.equal([
          503,
          'service_unavailable',
          moved.id,
        ]);
        expect(headers.get('retry-after')).to.equal('5');
      }
      expect(answers[2]!.text === LARGE).to.equal(true);
      storage.state.weather = 'fair';
      expect(await keep()).to.equal('kept');
      for (const { id, readText } of [moved, large]) {
        expect([await isMoved(id), (await readText()).text === LARGE]).to.deep.equal([true, true]);
      }
    });
  }

  it('move into a storage that does not delete old objects', async () => {
    const old = await settled(LARGE);
    await keep();
    world.state.nowMs += 31 * DAY_MS;
    const large = await settled(LARGE);
    await world.ledger
      .updateTable('results')
      .set({ verified_ms: BigInt(world.state.nowMs) })
      .where('execution_id', '=', large.id)
      .execute();
    storage.state.weather = 'locked';
    expect(await keep()).to.equal('not kept');
    expect([await isMoved(old.id), await isMoved(large.id)]).to.deep.equal([true, true]);
    storage.state.weather = 'fair';
    expect(await keep()).to.equal('kept');
    expect([(await old.readText()).status, (await large.readText()).text === LARGE]).to.deep.equal([410, true]);
  });
});

// Takes twice the ten seconds between the relay's checks, and is the same on every database: runs only on SQLite.
if (!onPostgres) {
  describe('a relay whose storage of results hangs', () => {
    let market: TestMarketplace;
    let storage: Storage;
    before(async () => {
      [market, storage] = await Promise.all([startMarketplace(), startStorage()]);
      market.setBehaviour(({ execution_id }, _, reply) => reply(goodAnswer(market.signingKey, execution_id, LARGE)));
    });
    after(async () => {
      await storage.stop();
      await market.stop();
    });

    it('serves, settles, answers from the ledger, stops, and moves results once the storage is back', async () => {
      const settings = {
        SPONSOR: 'all',
        S3_ENDPOINT: storage.settings.endpoint,
        S3_BUCKET: storage.settings.bucket,
        S3_ACCESS_KEY_ID: storage.settings.accessKeyId,
        S3_SECRET_ACCESS_KEY: storage.settings.secretAccessKey,
      };
      let relay = await startRelayHere(market, settings);
      const { apiKey } = market.callers[0]!;
      const execute = () =>
        request(relay.url, `/v1/agents/${market.agentId}/execute`, { apiKey, body: { task: 'large' } });
      storage.state.weather = 'hangs';
      const before = await market.balances();
      const first = await execute();
      expect(first.status, first.text.slice(0, 300)).to.equal(200);
      await until('it asks the storage', async () => storage.state.held > 0);
      const second = await execute();
      expect(second.status, second.text.slice(0, 300)).to.equal(200);
      const after = await market.balances();
      expect(after).to.deep.equal(afterPaying(before, 2n));
      const isThere = async ({ body }: typeof first) => {
        const record = await request(relay.url, `/v1/executions/${body.execution_id}`, { apiKey });
        return record.status === 200 && record.body.result === LARGE;
      };
      expect([await isThere(first), await isThere(second)]).to.deep.equal([true, true]);
      await relay.stop();

      storage.state.weather = 'fair';
      relay = await startRelayHere(market, settings);
      const stored = () => market.query('ledger', 'SELECT count(*) AS rows FROM results WHERE object_stored = 1');
      await until('both are in the storage', async () => Number((await stored())[0].rows) === 2);
      expect([await isThere(first), await isThere(second)]).to.deep.equal([true, true]);
      await relay.stop();
    });
  });
}

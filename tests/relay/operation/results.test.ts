/**
 * Results after their executions: moved to a real S3 server, read from there, and dropped after their retention time.
 */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import { keepResults } from '../../../app/relay/execution/keeping.ts';
import { createReadText, createResultObjects, type ResultObjects } from '../../../app/relay/outbound/resultObjects.ts';
import { maxResultBytes } from '../../../app/relay/outbound/resultSize.ts';
import { hashResult } from '../../../app/sdk/receipt/receipt.ts';
import { startWorld, type World } from '../../harness/edge/api.ts';
import { EPOCH, type TestKey } from '../../harness/edge/rows.ts';
import { onPostgres } from '../../harness/postgres.ts';
import { type Storage, startStorage } from '../../harness/storage.ts';

const LARGE = `${'東\0"'.repeat(30_000)} end`;
/** The longest result: 5 MiB. */
const LONG = LARGE.repeat(34) + 'x'.repeat(5 * 1024 * 1024 - 34 * Buffer.byteLength(LARGE));
const DAY_MS = 86_400_000;
const SETTINGS = { retentionDays: 30 };
const log = pino({ level: 'silent' });

describe('results', () => {
  let world: World;
  let key: TestKey;
  let listing: string;
  let storage: Storage;
  let objects: ResultObjects;
  before(async () => {
    storage = await startStorage();
    objects = createResultObjects(storage.settings, 5_000);
    world = await startWorld({ readText: createReadText(objects, log) });
    key = await world.addKey({ expiresAt: 2 * EPOCH });
    listing = await world.addListing();
  });
  beforeEach(() => {
    storage.state.weather = 'fair';
    world.state.nowMs = EPOCH * 1_000;
  });
  after(async () => {
    await world.stop();
    await storage.stop();
  });

  const keep = (into: ResultObjects | null = objects) => {
    const { ledger, views } = world.deps;
    const now = () => world.state.nowMs;
    return keepResults({ ledger, views, objects: into, settings: SETTINGS, now, log });
  };
  const isKept = () =>
    keep().then(
      () => true,
      () => false,
    );
  async function settled(text: string, state: 'settled' | 'verified' = 'settled') {
    const { wallet } = key;
    const id = await world.addJournal({ wallet, listing, state, settled_at: BigInt(EPOCH + 2) });
    const token = await world.addResult(id, text);
    return { id, token, read: () => world.get(`/results/${id}/${token}`) };
  }
  const rowOf = (id: string) =>
    world.ledger
      .selectFrom('results')
      .select(['result', 'object_stored', 'size', 'steps'])
      .where('execution_id', '=', id)
      .executeTakeFirstOrThrow();
  const inLedger = (text: string) => ({
    result: Buffer.from(text),
    object_stored: 0n,
    size: BigInt(Buffer.byteLength(text)),
  });

  it('are limited in size by their price, and never exceed the size of an answer', () => {
    expect(maxResultBytes(10_000n)).to.equal(65_536);
    expect(maxResultBytes(250_000n)).to.equal(1_638_400);
    expect(maxResultBytes(2n ** 63n)).to.equal(5 * 1024 * 1024);
  });

  it('are read byte for byte up to 5 MiB, also from a slow storage, into which they move from 64 KiB on', async () => {
    const long = await settled(LONG);
    const small = await settled('small');
    const unsettled = await settled(LARGE, 'verified');
    const requireLong = async () => {
      const { status, text, headers } = await long.read();
      expect([status, text === LONG, headers.get('etag')]).to.deep.equal([200, true, `"${hashResult(LONG)}"`]);
      const { json } = await world.get(`/v1/executions/${long.id}`, key.apiKey);
      expect([json.result === LONG, json.result_hash]).to.deep.equal([true, hashResult(LONG)]);
      expect(json.steps).to.deep.equal([{ step: 'read' }]);
    };
    await requireLong();
    const known = { 'if-none-match': `"${hashResult(LONG)}"` };
    expect((await world.call(`/results/${long.id}/${long.token}`, { headers: known })).status).to.equal(304);
    expect((await world.get(`/results/${long.id}/${'x'.repeat(32)}`)).status).to.equal(404);
    storage.state.weather = 'slow';
    await keep();
    const moved = { result: null, object_stored: 1n, size: BigInt(Buffer.byteLength(LONG)) };
    expect(await rowOf(long.id)).to.include(moved);
    expect(await rowOf(small.id)).to.deep.include(inLedger('small'));
    expect(await rowOf(unsettled.id)).to.deep.include(inLedger(LARGE));
    await requireLong();
    await keep();
    expect((await long.read()).status).to.equal(200);
  });

  const BAD = {
    down: 503,
    forbidden: 503,
    hangs: 503,
    trickles: 503,
    refuses: 503,
    'other bytes': 410,
    lost: 410,
  } as const;
  for (const [weather, status] of Object.entries(BAD)) {
    // One is enough to see that another database stores the same.
    if (onPostgres && weather !== 'down') continue;
    it(`stay in the ledger while the storage does not work, and a moved one is answered with ${status}: ${weather}`, async () => {
      const moved = await settled(LARGE);
      await keep();
      const large = await settled(LARGE);
      storage.state.weather = weather as keyof typeof BAD;
      const [kept, ofMoved, ofLarge] = await Promise.all([isKept(), moved.read(), large.read()]);
      expect([kept, ofMoved.status, ofLarge.text === LARGE]).to.deep.equal([false, status, true]);
      const code = status === 503 ? 'service_unavailable' : 'result_unavailable';
      expect([ofMoved.json.error.code, ofMoved.json.error.execution_id]).to.deep.equal([code, moved.id]);
      expect(ofMoved.headers.get('retry-after')).to.equal(status === 503 ? '5' : null);
      const record = await world.get(`/v1/executions/${moved.id}`, key.apiKey);
      if (status === 503) expect(record.status).to.equal(503);
      else expect(record.json).to.include({ status: 'completed', result: null, ipfs_url: null });
      expect(await rowOf(large.id)).to.deep.include(inLedger(LARGE));
      storage.state.weather = 'fair';
      expect(await isKept()).to.equal(true);
      for (const { id, read } of [moved, large]) {
        expect(await rowOf(id)).to.include({ result: null, object_stored: 1n });
        expect((await read()).text === LARGE).to.equal(true);
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
    expect(await isKept()).to.equal(false);
    for (const { id } of [old, large]) expect(await rowOf(id)).to.include({ object_stored: 1n });
    storage.state.weather = 'fair';
    expect(await isKept()).to.equal(true);
    expect([(await old.read()).status, (await large.read()).text === LARGE]).to.deep.equal([410, true]);
  });

  it('are dropped after 30 days in ledger and storage, while their hash stays', async () => {
    const large = await settled(LARGE);
    const small = await settled('to be forgotten');
    const failed = { http_status: 200n, body: Buffer.from('<html>'), is_cut: 0n, duration_ms: 7n };
    await world.ledger
      .insertInto('failed_answers')
      .values({ execution_id: 'refused', answered_ms: BigInt(EPOCH * 1_000), ...failed })
      .execute();
    const bodies = async () =>
      (await world.ledger.selectFrom('failed_answers').select('body').execute()).map(({ body }) => body);
    await keep();
    world.state.nowMs = EPOCH * 1_000 + 30 * DAY_MS;
    await keep();
    expect((await small.read()).status).to.equal(200);
    expect(await bodies()).to.deep.equal([failed.body]);
    world.state.nowMs += 1;
    await keep();
    // Bodies of refused answers are dropped too.
    expect(await bodies()).to.deep.equal([null]);
    for (const [{ id, read }, text] of [
      [large, LARGE],
      [small, 'to be forgotten'],
    ] as const) {
      expect(await rowOf(id)).to.include({
        result: null,
        object_stored: 0n,
        steps: null,
        size: BigInt(Buffer.byteLength(text)),
      });
      const { status, json } = await read();
      expect([status, json.error.code]).to.deep.equal([410, 'result_unavailable']);
      const record = await world.get(`/v1/executions/${id}`, key.apiKey);
      expect(record.json).to.include({ status: 'completed', result: null, steps: null, result_hash: hashResult(text) });
      const receipt = await world.get(`/v1/executions/${id}/receipt`, key.apiKey);
      expect(receipt.status).to.equal(410);
    }
    expect(await objects.get({ execution_id: large.id, result_hash: hashResult(LARGE) })).to.equal(null);
  });

  it('are kept at any age while the end of their execution is unknown or disputed', async () => {
    const unsettled = await settled('unsettled', 'verified');
    const disputed = await settled('disputed');
    const result_hash = createHash('sha256').update('disputed').digest('hex');
    const record = { execution_id: disputed.id, caller: key.wallet, listing, result_hash };
    await world.addRecord({ ...record, status: 'disputed' });
    world.state.nowMs += 400 * DAY_MS;
    await keep();
    expect((await rowOf(unsettled.id)).result?.toString()).to.equal('unsettled');
    expect((await disputed.read()).text).to.equal('disputed');
    await world.index
      .updateTable('executions')
      .set({ status: 'dispute_upheld' })
      .where('execution_id', '=', disputed.id)
      .execute();
    await keep();
    expect((await disputed.read()).status).to.equal(410);
  });

  it('rejects: a start without a configured storage when older results are stored there', async () => {
    const large = await settled(LARGE);
    await keep();
    world.state.nowMs += 31 * DAY_MS;
    const problem = await keep(null).then(
      () => null,
      (error: Error) => error.message,
    );
    expect(problem).to.match(/S3_ENDPOINT is not set/);
    expect(await rowOf(large.id)).to.include({ object_stored: 1n });
    await keep();
  });
});

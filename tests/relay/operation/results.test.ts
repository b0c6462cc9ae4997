/** Results after their executions: read byte for byte, and dropped after their retention time. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { dropExpired } from '../../../app/relay/execution/keeping.ts';
import { maxResultBytes } from '../../../app/relay/outbound/resultSize.ts';
import { hashResult } from '../../../app/sdk/receipt/receipt.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { EPOCH, type TestKey } from '../../harness/edge/rows.ts';

const LARGE = `${'東\0"'.repeat(30_000)} end`;
/** The longest result: 5 MiB. */
const LONG = LARGE.repeat(34) + 'x'.repeat(5 * 1024 * 1024 - 34 * Buffer.byteLength(LARGE));
const DAY_MS = 86_400_000;

describe('results', () => {
  const world = useWorld();
  let key: TestKey;
  let listing: string;
  before(async () => {
    key = await world.addKey({ expiresAt: 2 * EPOCH });
    listing = await world.addListing();
  });
  beforeEach(() => {
    world.state.nowMs = EPOCH * 1_000;
  });

  const keep = () => {
    const { ledger, views } = world.deps;
    return dropExpired({ ledger, views, settings: { retentionDays: 30 }, now: () => world.state.nowMs });
  };
  async function settled(text: string, state: 'settled' | 'verified' = 'settled') {
    const { wallet } = key;
    const id = await world.addJournal({ wallet, listing, state, settled_at: BigInt(EPOCH + 2) });
    const token = await world.addResult(id, text);
    return { id, token, read: () => world.get(`/results/${id}/${token}`) };
  }
  const rowOf = (id: string) =>
    world.ledger
      .selectFrom('results')
      .select(['result', 'size', 'steps'])
      .where('execution_id', '=', id)
      .executeTakeFirstOrThrow();

  it('are limited in size by their price, and never exceed the size of an answer', () => {
    expect(maxResultBytes(10_000n)).to.equal(65_536);
    expect(maxResultBytes(250_000n)).to.equal(1_638_400);
    expect(maxResultBytes(2n ** 63n)).to.equal(5 * 1024 * 1024);
  });

  it('are read byte for byte up to 5 MiB, by their token alone', async () => {
    const { id, token, read } = await settled(LONG);
    const { status, text, headers } = await read();
    expect([status, text === LONG, headers.get('etag')]).to.deep.equal([200, true, `"${hashResult(LONG)}"`]);
    const { json } = await world.get(`/v1/executions/${id}`, key.apiKey);
    expect([json.result === LONG, json.result_hash]).to.deep.equal([true, hashResult(LONG)]);
    expect(json.steps).to.deep.equal([{ step: 'read' }]);
    const known = { 'if-none-match': `"${hashResult(LONG)}"` };
    expect((await world.call(`/results/${id}/${token}`, { headers: known })).status).to.equal(304);
    expect((await world.get(`/results/${id}/${'x'.repeat(32)}`)).status).to.equal(404);
  });

  it('are dropped after 30 days, while their hash stays', async () => {
    const texts = [LARGE, 'to be forgotten'];
    const kept = await Promise.all(texts.map((text) => settled(text)));
    const failed = { http_status: 200n, body: Buffer.from('<html>'), is_cut: 0n, duration_ms: 7n };
    await world.ledger
      .insertInto('failed_answers')
      .values({ execution_id: 'refused', answered_ms: BigInt(EPOCH * 1_000), ...failed })
      .execute();
    const bodies = async () =>
      (await world.ledger.selectFrom('failed_answers').select('body').execute()).map(({ body }) => body);
    world.state.nowMs = EPOCH * 1_000 + 30 * DAY_MS;
    await keep();
    for (const { read } of kept) expect((await read()).status).to.equal(200);
    expect(await bodies()).to.deep.equal([failed.body]);
    world.state.nowMs += 1;
    await keep();
    // Bodies of refused answers are dropped too.
    expect(await bodies()).to.deep.equal([null]);
    for (const [index, { id, read }] of kept.entries()) {
      const text = texts[index]!;
      expect(await rowOf(id)).to.include({ result: null, steps: null, size: BigInt(Buffer.byteLength(text)) });
      const { status, json } = await read();
      expect([status, json.error.code]).to.deep.equal([410, 'result_unavailable']);
      const record = await world.get(`/v1/executions/${id}`, key.apiKey);
      expect(record.json).to.include({ status: 'completed', result: null, steps: null, result_hash: hashResult(text) });
      const receipt = await world.get(`/v1/executions/${id}/receipt`, key.apiKey);
      expect(receipt.status).to.equal(410);
    }
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
});

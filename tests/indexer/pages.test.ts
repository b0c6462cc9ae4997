/** A long backfill's pages, each written while the next one is made: the tables are those of pages one after another. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Kysely } from 'kysely';
import { openPostgres, SCHEMAS } from '../../app/database/postgres.ts';
import { ApplyError, applyPage, type ChainTransaction, rollbackTo, SnapshotNeeded } from '../../indexer/apply.ts';
import { restoreLists } from '../../indexer/deferred.ts';
import { hashIndex } from '../../indexer/hash.ts';
import { openIndex } from '../../indexer/open.ts';
import { createPageWriter, NotWritten } from '../../indexer/pages.ts';
import type { IndexDatabase } from '../../indexer/tables.ts';
import { freshPostgres, onPostgres } from '../harness/postgres.ts';
import { randomHistory, randomOf } from './histories.ts';

const LENGTH = 240;
/** PostgreSQL is written without a thread, page after page. */
const SEEDS = onPostgres ? 1 : 6;

describe('indexer, pages of a long backfill', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'));
  const closing: (() => unknown)[] = [];
  let files = 0;

  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** An index of its own, which a thread can write too. */
  async function openOwn(): Promise<Kysely<IndexDatabase>> {
    files += 1;
    const opened = onPostgres
      ? openPostgres<IndexDatabase>(await freshPostgres(), { schema: SCHEMAS.index })
      : openIndex(join(folder, `${files}.db`));
    closing.push(() => opened.close());
    return opened.db;
  }

  const cursorOf = (db: Kysely<IndexDatabase>) => db.selectFrom('cursor').select('signature').executeTakeFirst();

  function writerOf(db: Kysely<IndexDatabase>, { after, isEmpty = false }: { after?: string; isEmpty?: boolean } = {}) {
    const applyAlone = (page: readonly ChainTransaction[]) => applyPage(db, page, 100n, after);
    return createPageWriter({ db, fullPage: 8, finalizedSlot: 100n, isEmpty, applyAlone });
  }

  /** The token that a history would go on by. */
  const keeps = (token: string) => async (db: Kysely<IndexDatabase>) =>
    void (await db.updateTable('backfill').set({ token }).execute());

  /** What was kept of the pages' tokens. */
  async function beginBackfill(db: Kysely<IndexDatabase>) {
    await db.insertInto('backfill').values({ id: 1n, state: 'history', token: null, finalized_slot: 0n }).execute();
    return async () => (await db.selectFrom('backfill').select('token').executeTakeFirstOrThrow()).token;
  }

  it('leave the same tables, whatever their sizes, and how far they came', async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const history = randomHistory(seed, LENGTH);
      const [one, many] = [await openOwn(), await openOwn()];
      const token = await beginBackfill(many);
      const random = randomOf(seed);
      const writer = writerOf(many);
      let after: string | null = null;
      for (let start = 0; start < history.length; ) {
        const transactions = history.slice(start, start + 1 + random(30));
        start += transactions.length;
        await applyPage(one, transactions, 100n, after);
        await writer.add(transactions, keeps(String(start)));
        after = transactions.at(-1)!.signature;
      }
      await writer.settle();
      await writer.close();
      expect(await hashIndex(many), `seed ${seed}`).to.equal(await hashIndex(one));
      const images = async (db: Kysely<IndexDatabase>) =>
        (await db.selectFrom('undo').selectAll().execute()).map((row) => ({
          ...row,
          image: JSON.parse(row.image ?? 'null'),
        }));
      expect(await images(many), `seed ${seed}`).to.have.deep.members(await images(one));
      expect(await token()).to.equal(String(LENGTH));
    }
  });

  it('leave totals to the end where the tables were empty, also where transactions are taken back before it', async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const history = randomHistory(seed, LENGTH);
      const [one, many] = [await openOwn(), await openOwn()];
      await applyPage(one, history, 100n);
      const writer = writerOf(many, { isEmpty: true });
      await writer.add(history.slice(0, LENGTH / 2));
      await writer.add(history.slice(LENGTH / 2));
      await writer.settle();
      await writer.close();
      const totals = (db: Kysely<IndexDatabase>) => db.selectFrom('caller_totals').selectAll().execute();
      expect(await totals(one)).to.not.deep.equal([]);
      if (!onPostgres) expect(await totals(many)).to.deep.equal([]);
      const slot = history[LENGTH - 20]!.slot;
      for (const db of [one, many]) await rollbackTo(db, slot);
      await restoreLists(many);
      expect(await hashIndex(many), `seed ${seed}`).to.equal(await hashIndex(one));
      // From here on they are kept with each page.
      const again = history.filter((transaction) => transaction.slot > slot);
      for (const db of [one, many]) await applyPage(db, again, 100n);
      expect(await hashIndex(many), `seed ${seed}`).to.equal(await hashIndex(one));
    }
  });

  it('stop at what cannot be applied, with all before it in the tables', async () => {
    const history = randomHistory(11, LENGTH);
    const [one, many] = [await openOwn(), await openOwn()];
    const token = await beginBackfill(many);
    const good = history.slice(0, 60);
    await applyPage(one, good, 100n);
    const at = history.findIndex(({ content }, place) => place >= 60 && content.kind === 'events');
    const bad = history.slice(60, at + 10);
    const { signature, content } = history[at]!;
    if (content.kind !== 'events') throw new Error('the history has no more events');
    bad[at - 60] = {
      ...history[at]!,
      content: { kind: 'events', events: [{ name: 'Unheard', data: {} } as never] },
    };
    const writer = writerOf(many);
    await writer.add(good.slice(0, 30), keeps('30'));
    await writer.add(good.slice(30), keeps('60'));
    const error = await writer.add(bad, keeps('bad')).catch((cause) => cause);
    await writer.settle();
    await writer.close();
    expect(error).to.be.instanceOf(ApplyError);
    expect(error.signature).to.equal(signature);
    expect(await hashIndex(many)).to.equal(await hashIndex(one));
    expect(await token()).to.equal('60');
  });

  it('need what the node left out, and go on with it', async () => {
    const history = randomHistory(12, LENGTH);
    const [one, many] = [await openOwn(), await openOwn()];
    await applyPage(one, history, 100n);
    const token = await beginBackfill(many);
    const recordOf = ({ content }: ChainTransaction, name: string) =>
      content.kind === 'events'
        ? content.events.flatMap((event) =>
            event.name === name ? [String((event.data as { record: unknown }).record)] : [],
          )
        : [];
    const isSettled = (record: string) => history.some((item) => recordOf(item, 'ExecutionSettled').includes(record));
    const at = history.findIndex((item, place) => place > 40 && recordOf(item, 'ExecutionOpened').some(isSettled));
    expect(at).to.be.greaterThan(40);
    const writer = writerOf(many);
    await writer.add(history.slice(0, at), keeps('first'));
    const error = await writer.add(history.slice(at + 1), keeps('second')).catch((cause) => cause);
    // A thread's page does without snapshots: whoever applies it alone is told what is needed.
    expect(error).to.be.instanceOf(onPostgres ? SnapshotNeeded : NotWritten);
    await writer.close();
    expect(await token()).to.equal('first');
    const alone = writerOf(many);
    const reason = await alone.add(history.slice(at + 1), keeps('second')).catch((cause) => cause);
    expect(reason).to.be.instanceOf(SnapshotNeeded);
    await alone.close();
    const again = writerOf(many);
    await again.add(history.slice(at), keeps('second'));
    await again.settle();
    await again.close();
    expect(await token()).to.equal('second');
    expect(await hashIndex(many)).to.equal(await hashIndex(one));
  });

  it('know an execution whose account was read before its opening was seen', async () => {
    const history = randomHistory(15, LENGTH);
    const [one, many] = [await openOwn(), await openOwn()];
    const isOpen = ({ content }: ChainTransaction) =>
      content.kind === 'events' && content.events.some(({ name }) => name === 'ExecutionOpened');
    const at = history.findIndex((item, place) => place > 40 && isOpen(item) && item.slot > history[place - 1]!.slot);
    const [before, opening] = [history.slice(0, at), history[at]!];
    await applyPage(one, [...before, opening], 100n);
    const newest = one.selectFrom('executions').selectAll().orderBy('opened_slot', 'desc');
    const row = await newest.executeTakeFirstOrThrow();
    expect(row.opened_slot).to.equal(opening.slot);

    const unseen = { open_signature: null, opened_slot: null, open_index: null };
    const nothing = { configs: [], creators: [], listings: [], grants: [], disputes: [], archives: [] };
    const readings = { refunds: [], gone: [], provisionalAt: new Set<bigint>() };
    const snapshot = { ...nothing, executions: [{ ...row, ...unseen }], ...readings };
    // Anybody may name the record's address before it is opened.
    const naming = { ...before.at(-1)!, signature: 'naming' };
    await applyPage(many, [...before, { ...naming, content: { kind: 'accounts', snapshot, carried: [] } }], 100n);
    await applyPage(many, [opening], 100n);
    expect(await many.selectFrom('executions').selectAll().where('record', '=', row.record).execute()).to.deep.equal([
      row,
    ]);
  });

  it('know an execution that a fork had opened before the chain dropped it', async () => {
    const history = randomHistory(15, LENGTH);
    const db = await openOwn();
    const at = history.findLastIndex(
      ({ content }) => content.kind === 'events' && content.events.some(({ name }) => name === 'ExecutionOpened'),
    );
    await applyPage(db, history.slice(0, at + 1), 100n);
    const newest = db.selectFrom('executions').selectAll().orderBy('opened_slot', 'desc').orderBy('open_index', 'desc');
    const dropped = await newest.executeTakeFirstOrThrow();
    const slot = history[at]!.slot + 7n;
    await applyPage(db, [{ ...history[at]!, signature: 'again', slot }], 100n);
    expect(await newest.executeTakeFirstOrThrow()).to.deep.equal({
      ...{ ...dropped, open_signature: 'again', opened_slot: slot, open_index: 0n, slot },
    });
  });

  it('are not written by the thread where it finds other tables than the page was made for', async () => {
    const history = randomHistory(13, LENGTH);
    const [one, many] = [await openOwn(), await openOwn()];
    await applyPage(one, history, 100n);
    await beginBackfill(many);
    const pages = [history.slice(0, 80), history.slice(80, 160), history.slice(160)] as const;
    const writer = writerOf(many);
    await writer.add(pages[0]);
    await writer.add(pages[1]);
    while ((await cursorOf(many))?.signature !== pages[1].at(-1)!.signature) await delay(1);
    await many.updateTable('cursor').set({ signature: 'another' }).execute();
    const error = await (async () => {
      await writer.add(pages[2]);
      await writer.settle();
    })().catch((cause) => cause);
    await writer.close();
    // PostgreSQL's pages say after what they come, or ask for nothing.
    if (!onPostgres) expect(error).to.be.instanceOf(NotWritten);
    expect((await cursorOf(many))?.signature).to.equal(onPostgres ? pages[2].at(-1)!.signature : 'another');

    const after = pages[2].at(-1)!.signature;
    await many.updateTable('cursor').set({ signature: 'another' }).execute();
    const chained = writerOf(many, { after });
    const moved = await chained.add(randomHistory(14, 20)).catch((cause) => cause.message);
    expect(moved).to.equal(`the index is at another, not at ${after}`);
    await chained.close();

    const alone = writerOf(many);
    await alone.add(pages[2]);
    await alone.settle();
    await alone.close();
    expect(await hashIndex(many)).to.equal(await hashIndex(one));
  });
});

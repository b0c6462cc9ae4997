/** The migration runner, and how database files are opened. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MIGRATIONS, migrate } from '../../app/database/migrate.ts';
import { openDatabase } from '../../app/database/open.ts';
import { writeStatistics } from '../../indexer/apply/statistics.ts';
import { openIndex } from '../../indexer/queries/open.ts';
import type { AttachedIndex, IndexDatabase } from '../../indexer/queries/tables.ts';

describe('indexer/database', () => {
  let folder: string;
  const put = (name: string, sql: string) => writeFileSync(join(folder, name), sql);
  const open = () => openDatabase<Record<string, unknown>>(join(folder, 'test.db'));
  const names = (sqlite: ReturnType<typeof open>['sqlite']) =>
    sqlite.prepare('SELECT name FROM migrations ORDER BY number').pluck().all();

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'migrations-'));
    put('0001_first.sql', 'CREATE TABLE first (a INTEGER) STRICT; CREATE TABLE other (a INTEGER) STRICT;');
    put('README.md', 'not a migration');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('applies each migration once, in order, and later ones later', () => {
    const { sqlite, close } = open();
    migrate(sqlite, folder);
    migrate(sqlite, folder);
    expect(names(sqlite)).to.deep.equal(['0001_first']);
    put('0002_second.sqlite.sql', 'INSERT INTO first VALUES (1);');
    put('0003_third.sqlite.sql', 'UPDATE first SET a = a + 1;');
    migrate(sqlite, folder);
    migrate(sqlite, folder);
    expect(sqlite.prepare('SELECT a FROM first').pluck().all()).to.deep.equal([2n]);
    expect(names(sqlite)).to.have.length(3);
    close();
  });

  it('leaves nothing of a migration that fails halfway', () => {
    const { sqlite, close } = open();
    put('0002_broken.sqlite.sql', 'INSERT INTO first VALUES (1); INSERT INTO nowhere VALUES (1);');
    expect(() => migrate(sqlite, folder)).to.throw('nowhere');
    expect(sqlite.prepare('SELECT count(*) FROM first').pluck().get()).to.equal(0n);
    expect(names(sqlite)).to.deep.equal(['0001_first']);
    close();
  });

  it('refuses an edited file, a missing one, and a number out of order', () => {
    const { sqlite, close } = open();
    migrate(sqlite, folder);
    put('0001_first.sql', 'CREATE TABLE first (a TEXT) STRICT;');
    expect(() => migrate(sqlite, folder)).to.throw('was made with another version of the migration 0001_first');
    renameSync(join(folder, '0001_first.sql'), join(folder, '0002_first.sql'));
    expect(() => migrate(sqlite, folder)).to.throw('should be number 0001');
    rmSync(join(folder, '0002_first.sql'));
    expect(() => migrate(sqlite, folder)).to.throw(
      'was migrated by a newer release, which has the migration 0001_first',
    );
    close();
  });

  it('reads integers as bigint, keeps WAL, and refuses values that a STRICT table refuses', async () => {
    const { db, sqlite, close } = openIndex(join(folder, 'index.db'));
    expect(sqlite.pragma('journal_mode', { simple: true })).to.equal('wal');
    const row = { id: 1n, signature: 's', slot: 2n ** 63n - 1n };
    await db.insertInto('cursor').values(row).execute();
    expect(await db.selectFrom('cursor').selectAll().executeTakeFirst()).to.deep.equal(row);
    const wrong = db.updateTable('cursor').set({ slot: 'x' as unknown as bigint });
    expect(await wrong.execute().catch((error: Error) => error.message)).to.include('cannot store TEXT');
    close();
  });

  it('lets a reader join an attached index and write to neither', async () => {
    const [ledger, index] = [join(folder, 'test.db'), join(folder, 'index.db')];
    const own = open();
    migrate(own.sqlite, folder);
    const chain = openIndex(index);
    await chain.db.insertInto('progress').values({ id: 1n, slot: 5n, checked_at: 6n }).execute();
    const reader = openDatabase<AttachedIndex & { first: { a: bigint } }>(ledger, {
      readonly: true,
      attach: { chain: index },
    });
    expect(await reader.db.selectFrom('chain.progress').select('slot').execute()).to.deep.equal([{ slot: 5n }]);
    expect(await reader.db.selectFrom('first').selectAll().execute()).to.deep.equal([]);
    for (const table of ['first', 'chain.progress'] as const) {
      const refused = await reader.db
        .deleteFrom(table)
        .execute()
        .catch((error: Error) => error.message);
      expect(refused).to.include('readonly');
    }
    await chain.db.updateTable('progress').set({ slot: 7n }).execute();
    expect(await reader.db.selectFrom('chain.progress').select('slot').execute()).to.deep.equal([{ slot: 7n }]);
    for (const opened of [reader, own, chain]) opened.close();
  });

  it('computes the statistics for every status and reason', async () => {
    const { db, sqlite, close } = openDatabase<IndexDatabase>(join(folder, 'index.db'));
    migrate(sqlite, MIGRATIONS.index);
    const insert = sqlite.prepare(
      `INSERT INTO executions (execution_id, record, listing, caller, signing_key, rent_sponsor, price, fee_bps,
         listing_version, request_hash, status, reason, execution_time_ms, opened_at, deadline, refund_at,
         settled_at, dispute_window_seconds, dispute_count, listing_timeout_seconds, creator_amount, slot)
       VALUES (@id, @id, @listing, 'c', 'k', 'r', 1, 1, 1, 'h', @status, @reason, @ms, 10, 40, 50, 20, 4, @disputes, @timeout, @amount, 5)`,
    );
    // Each execution was opened with a timeout of 30 s; the last column is the timeout of its listing.
    const rows: [string, string, number | null, number | null, number, number?][] = [
      ['A', 'completed', null, 10, 0],
      ['A', 'completed', null, 11, 1],
      ['A', 'disputed', null, 14, 1],
      ['A', 'dispute_upheld', null, 15, 1],
      ['A', 'refunded', 0, null, 0],
      ['A', 'refunded', 1, null, 0],
      ['A', 'refunded', 2, null, 0],
      ['A', 'refunded', 3, null, 0],
      ['A', 'refunded', 4, null, 0],
      ['A', 'refunded', 5, null, 0],
      ['A', 'refunded', null, null, 0],
      ['A', 'open', null, null, 0],
      ['A', 'refunded', 1, null, 0, 31],
      ['A', 'refunded', 1, null, 0, 30],
      ['A', 'refunded', 0, null, 0, 31],
      ['A', 'completed', null, 15, 0, 31],
      ['B', 'open', null, null, 0],
    ];
    for (const [index, [listing, status, reason, ms, disputes, timeout = null]] of rows.entries()) {
      const amount = ['open', 'refunded'].includes(status) ? 0 : 99;
      insert.run({ id: String(index), listing, status, reason, ms, disputes, timeout, amount });
    }
    const executions = await db.selectFrom('executions').selectAll().execute();
    await writeStatistics(
      db,
      executions.map((after) => ({ before: null, after })),
    );
    const statistics: IndexDatabase['agent_statistics'][] = await db
      .selectFrom('agent_statistics')
      .selectAll()
      .orderBy('listing')
      .execute();
    expect(statistics).to.deep.equal([
      {
        listing: 'A',
        total_executions: 11n,
        successful_executions: 4n,
        success_rate: 4 / 11,
        avg_execution_time_ms: 13n,
        dispute_count: 3n,
        earned: 5n * 99n,
        ended_executions: 15n,
        timed_executions: 5n,
        total_time_ms: 65n,
      },
      // B has no ended execution and so no row, like a listing without calls. A missing row counts as zero.
    ]);
    // Once the executions are removed again, no row of them is left.
    await writeStatistics(
      db,
      executions.map((before) => ({ before, after: null })),
    );
    for (const table of ['agent_statistics', 'caller_totals', 'agent_days'] as const) {
      expect(await db.selectFrom(table).selectAll().execute()).to.deep.equal([]);
    }
    close();
  });
});

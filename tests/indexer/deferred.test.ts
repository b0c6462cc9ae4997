/** Indexes that a long first backfill does without: they come back as the migrations have them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import { deferLists, restoreLists } from '../../indexer/deferred.ts';
import { openIndex, openPlace } from '../../indexer/open.ts';
import { freshPostgres, onPostgres } from '../harness/postgres.ts';

describe('indexer/deferred', function () {
  this.timeout(120_000);
  const folder = mkdtempSync(join(tmpdir(), 'deferred-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('restores what it left out, also after a restart, and changes nothing where all is there', async function () {
    if (onPostgres) return this.skip();
    const path = join(folder, 'index.db');
    const opened = openIndex(path);
    const schema = (of: typeof opened) =>
      of.sqlite.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all() as { name: string }[];
    const whole = schema(opened);
    await deferLists(opened.db);
    await deferLists(opened.db);
    const without = schema(opened).map(({ name }) => name);
    expect(whole.map(({ name }) => name).filter((name) => !without.includes(name))).to.deep.equal([
      'executions_by_caller_status',
      'executions_by_listing_caller',
      'executions_ended_by_listing',
    ]);
    opened.close();

    const again = openIndex(path);
    await restoreLists(again.db);
    expect(schema(again)).to.deep.equal(whole);
    await restoreLists(again.db);
    expect(schema(again)).to.deep.equal(whole);
    again.close();
  });

  it('leaves PostgreSQL all its indexes, where others read the tables too', async function () {
    if (!onPostgres) return this.skip();
    const { db, close } = await openPlace(await freshPostgres());
    const indexes = async () =>
      (await sql`SELECT indexname FROM pg_indexes WHERE schemaname = 'chain' ORDER BY 1`.execute(db)).rows;
    const whole = await indexes();
    expect(whole).to.deep.include({ indexname: 'executions_by_caller_status' });
    await deferLists(db);
    expect(await indexes()).to.deep.equal(whole);
    await restoreLists(db);
    expect(await indexes()).to.deep.equal(whole);
    await close();
  });
});

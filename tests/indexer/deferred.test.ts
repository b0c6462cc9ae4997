/** Indexes that a long first backfill does without: they come back as the migrations have them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { deferIndexes, restoreIndexes } from '../../indexer/deferred.ts';
import { openIndex } from '../../indexer/open.ts';

describe('indexer/deferred', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deferred-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('restores what it left out, also after a restart, and changes nothing where all is there', async () => {
    const path = join(folder, 'index.db');
    const opened = openIndex(path);
    const schema = (of: typeof opened) =>
      of.sqlite.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all() as { name: string }[];
    const whole = schema(opened);
    await deferIndexes(opened.db);
    await deferIndexes(opened.db);
    const without = schema(opened).map(({ name }) => name);
    expect(whole.map(({ name }) => name).filter((name) => !without.includes(name))).to.deep.equal([
      'executions_by_caller_status',
      'executions_by_listing_caller',
      'executions_ended_by_listing',
    ]);
    opened.close();

    const again = openIndex(path);
    await restoreIndexes(again.db);
    expect(schema(again)).to.deep.equal(whole);
    await restoreIndexes(again.db);
    expect(schema(again)).to.deep.equal(whole);
    again.close();
  });
});

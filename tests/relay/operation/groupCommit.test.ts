import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { CompiledQuery } from 'kysely';
import { createGroupCommit, type GroupCommit } from '../../../app/database/groupCommit.ts';
import { useFolder } from '../../harness/folder.ts';

/** The result of `PRAGMA synchronous` for NORMAL. */
const NORMAL = 1;

describe('writes in groups', () => {
  const path = join(useFolder('group-commit'), 'ledger.db');
  let sqlite: Sqlite.Database;
  let writes: GroupCommit;
  before(() => {
    sqlite = new Sqlite(path);
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('synchronous = NORMAL');
    sqlite.exec('CREATE TABLE moves (name TEXT PRIMARY KEY) STRICT');
    writes = createGroupCommit(sqlite);
  });
  after(() => sqlite.close());
  beforeEach(() => void sqlite.exec('DELETE FROM moves'));

  const insert = (name: string) => CompiledQuery.raw('INSERT INTO moves VALUES (?)', [name]);
  /** The rows that another process sees. */
  function stored(): string[] {
    const other = new Sqlite(path, { readonly: true });
    const names = other.prepare('SELECT name FROM moves ORDER BY name').pluck().all() as string[];
    other.close();
    return names;
  }

  it('complete a note when it is written, without a disk sync', async () => {
    const before = writes.commits();
    expect(await writes.note(insert('a note'))).to.deep.equal({ changes: 1, rows: [] });
    expect(stored()).to.deep.equal(['a note']);
    expect(writes.commits()).to.equal(before);
  });

  it('write the intents and notes of one event-loop turn in one durable transaction, in order', async () => {
    const before = writes.commits();
    const renamed = CompiledQuery.raw("UPDATE moves SET name = 'b' WHERE name = 'a'");
    const written = await Promise.all([writes.note(insert('a')), writes.intend(renamed), writes.note(insert('c'))]);
    expect(written.map(({ changes }) => changes)).to.deep.equal([1, 1, 1]);
    expect(stored()).to.deep.equal(['b', 'c']);
    expect(writes.commits()).to.equal(before + 1);
    expect(sqlite.pragma('synchronous', { simple: true })).to.equal(NORMAL);
  });

  it('keep the other writes of a group when one fails', async () => {
    const group = [writes.intend(insert('a')), writes.intend(insert('a')), writes.note(insert('b'))];
    const [first, second, third] = await Promise.allSettled(group);
    expect([first?.status, second?.status, third?.status]).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(stored()).to.deep.equal(['a', 'b']);
  });

  it('write the statements of one write all or none', async () => {
    const both = (one: string, another: string) => writes.intend(insert(one), insert(another));
    const [first, second] = await Promise.allSettled([both('a', 'b'), both('c', 'a')]);
    expect([first?.status, second?.status]).to.deep.equal(['fulfilled', 'rejected']);
    expect(stored()).to.deep.equal(['a', 'b']);
  });

  it('write nothing of a group when the disk fills, and report the error to every writer', async () => {
    const pages = Number(sqlite.pragma('page_count', { simple: true }));
    sqlite.pragma(`max_page_count = ${pages + 1}`);
    const names = ['a', 'b', 'x'.repeat(100_000), 'c', 'd'];
    const results = await Promise.allSettled(names.map((name) => writes.intend(insert(name))));
    expect(results.map(({ status }) => status)).to.deep.equal(Array(5).fill('rejected'));
    expect(stored()).to.deep.equal([]);
    expect(sqlite.pragma('synchronous', { simple: true })).to.equal(NORMAL);
    sqlite.pragma('max_page_count = 1000000');
    await writes.intend(insert('e'));
    expect(stored()).to.deep.equal(['e']);
  });

  it('fail as a group when the commit fails, and write the next group', async () => {
    const other = new Sqlite(path);
    other.exec('BEGIN IMMEDIATE');
    sqlite.pragma('busy_timeout = 1');
    const results = await Promise.allSettled([writes.intend(insert('a')), writes.note(insert('b'))]);
    other.close();
    expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(stored()).to.deep.equal([]);
    expect(sqlite.pragma('synchronous', { simple: true })).to.equal(NORMAL);
    await writes.intend(insert('c'));
    expect(stored()).to.deep.equal(['c']);
  });
});

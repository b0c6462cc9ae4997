/**
 * tests/schema.sql shows the tables that the migrations create in both databases, for people who want to read a table
 * in one place. The types of the tables are generated from them too. After a new migration renew all of it with
 * `RENEW_SCHEMA=1 npx mocha tests/indexer/schema.test.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { MIGRATIONS, migrate } from '../../app/database/migrate.ts';
import { openDatabase } from '../../app/database/open.ts';
import { inLines, tableTypes } from '../../scripts/tableTypes.ts';

const FILE = join(import.meta.dirname, '..', 'schema.sql');
const RENEWAL = 'RENEW_SCHEMA=1 npx mocha tests/indexer/schema.test.ts';
const HEAD = `-- Both databases after all migrations. Made by: ${RENEWAL}
-- What tables and columns mean is said in the migrations.
`;

/** Every table with its indexes in the order of creation, then the views. */
function dump(sqlite: Sqlite.Database): string {
  const rows = sqlite
    .prepare(`SELECT made.sql FROM sqlite_schema AS made JOIN sqlite_schema AS owner ON owner.name = made.tbl_name
      WHERE made.sql IS NOT NULL ORDER BY owner.type = 'view', owner.rowid, made.type = 'index', made.rowid`)
    .pluck()
    .all() as string[];
  return rows.map((sql) => `${sql.startsWith('CREATE INDEX') ? '' : '\n'}${inLines(sql)};\n`).join('');
}

describe('the schema', () => {
  const databases = Object.entries(MIGRATIONS).map(([name, folder]) => {
    const { sqlite } = openDatabase(':memory:');
    migrate(sqlite, folder);
    return { name: name as keyof typeof MIGRATIONS, sqlite };
  });
  after(() => databases.forEach(({ sqlite }) => void sqlite.close()));

  function requireFresh(file: string, made: string) {
    if (process.env.RENEW_SCHEMA) writeFileSync(file, made);
    expect(readFileSync(file, 'utf8'), `${file} is old, renew it: ${RENEWAL}`).to.equal(made);
  }

  it('in tests/schema.sql equals the result of the migrations', () => {
    requireFresh(FILE, HEAD + databases.map(({ name, sqlite }) => `\n-- ${name}.db\n${dump(sqlite)}`).join('\n'));
  });

  for (const { name, sqlite } of databases) {
    it(`of the ${name} has the types of its tables`, () => {
      const { file, text } = tableTypes(name, sqlite, RENEWAL);
      requireFresh(file, text);
    });
  }
});

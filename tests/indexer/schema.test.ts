/**
 * tests/schema.sql shows the tables that the migrations create in both databases, for people who want to read a table
 * in one place. After a new migration renew it with `RENEW_SCHEMA=1 npx mocha tests/indexer/schema.test.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MIGRATIONS, migrate } from '../../app/database/migrate.ts';
import { openDatabase } from '../../app/database/open.ts';

const FILE = join(import.meta.dirname, '..', 'schema.sql');
const RENEWAL = 'RENEW_SCHEMA=1 npx mocha tests/indexer/schema.test.ts';
const HEAD = `-- Both databases after all migrations. Made by: ${RENEWAL}
-- What tables and columns mean is said in the migrations.
`;

/** Every table with its indexes in the order of creation, then the views. */
function dump(folder: string): string {
  const { sqlite, close } = openDatabase(':memory:');
  migrate(sqlite, folder);
  const rows = sqlite
    .prepare(`SELECT made.sql FROM sqlite_schema AS made JOIN sqlite_schema AS owner ON owner.name = made.tbl_name
      WHERE made.sql IS NOT NULL ORDER BY owner.type = 'view', owner.rowid, made.type = 'index', made.rowid`)
    .pluck()
    .all() as string[];
  close();
  return rows.map((sql) => `${sql.startsWith('CREATE INDEX') ? '' : '\n'}${inLines(sql)};\n`).join('');
}

/** Splits columns that SQLite appended on one line. */
function inLines(sql: string): string {
  return sql.replace(/\n, (.*)\n?\) STRICT$/, (_, columns: string) => {
    const lines = columns.split(/, (?=\w+ (?:INTEGER|REAL|TEXT|BLOB))/);
    return `,\n  ${lines.join(',\n  ')}\n) STRICT`;
  });
}

describe('the schema', () => {
  it('in tests/schema.sql equals the result of the migrations', () => {
    const databases = Object.entries(MIGRATIONS).map(([name, folder]) => `\n-- ${name}.db\n${dump(folder)}`);
    const made = HEAD + databases.join('\n');
    if (process.env.RENEW_SCHEMA) writeFileSync(FILE, made);
    expect(readFileSync(FILE, 'utf8'), `tests/schema.sql is old, renew it: ${RENEWAL}`).to.equal(made);
  });
});

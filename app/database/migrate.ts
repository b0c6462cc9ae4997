/**
 * Brings a SQLite file up to date. A migration is a file `NNNN_subject.sqlite.sql`, forward only: once applied anywhere it
 * is never edited again, not even its comments, because every database remembers the checksum of what it has applied.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';

const FOLDER = join(import.meta.dirname, '..', '..', 'migrations');

/** Where the migrations of each database lie. */
export const MIGRATIONS = { index: join(FOLDER, 'index'), ledger: join(FOLDER, 'ledger') } as const;

interface Applied {
  number: bigint;
  name: string;
  checksum: string;
}

interface Migration {
  name: string;
  sql: string;
  /** SHA-256 of the file, hex. */
  checksum: string;
}

/**
 * Applies the files `NNNN_subject.sqlite.sql` of a folder that this database has not seen, in order, each in one
 * transaction. Throws when a file that was applied has been edited or is gone, or when numbers repeat or are missing.
 */
export function migrate(sqlite: Sqlite.Database, folder: string): void {
  sqlite.exec(
    'CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT',
  );
  const files = readMigrations(folder);
  const applyPending = sqlite.transaction(() => {
    const applied = sqlite.prepare('SELECT number, name, checksum FROM migrations ORDER BY number').all() as Applied[];
    for (const row of applied) {
      const file = files[Number(row.number) - 1];
      if (!file) throw new Error(`${sqlite.name} was made by a newer version: ${row.name} is not in ${folder}`);
      if (file.checksum !== row.checksum) {
        throw new Error(`${file.name} was edited after ${sqlite.name} had applied it; add a new migration instead`);
      }
    }
    const next = files[applied.length];
    if (!next) return false;
    // The row comes first, so that a file that fails half-way leaves neither.
    sqlite
      .prepare('INSERT INTO migrations (number, name, checksum) VALUES (?, ?, ?)')
      .run(BigInt(applied.length + 1), next.name, next.checksum);
    sqlite.exec(next.sql);
    return true;
  });
  while (applyPending.immediate()) {}
}

function readMigrations(folder: string): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sqlite.sql'))
    .sort();
  return names.map((name, index) => {
    const expected = String(index + 1).padStart(4, '0');
    if (!name.startsWith(`${expected}_`)) throw new Error(`${join(folder, name)} should be number ${expected}`);
    const sql = readFileSync(join(folder, name), 'utf8');
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}

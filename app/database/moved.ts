/**
 * Marks a SQLite file whose rows have moved to PostgreSQL. A process that still used the file by accident would spend
 * money that another process already manages.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const markOf = (path: string) => `${path}.moved`;

/** Writes a mark with the target of the move beside the SQLite file. The mark is on disk when this returns. */
export function markMoved(path: string, target: string): void {
  const mark = openSync(markOf(path), 'w', 0o600);
  writeSync(mark, `${target}\n`);
  fsyncSync(mark);
  closeSync(mark);
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

/** Throws if the rows of the file have moved. */
export function requireNotMoved(path: string): void {
  if (!existsSync(markOf(path))) return;
  const target = readFileSync(markOf(path), 'utf8').trim();
  throw new Error(
    `The rows of ${path} were moved to the PostgreSQL ${target}. Start with DATABASE_URL after migrate-to-postgres has reported that all tables are equal. To go back to the file, remove ${markOf(path)}, but only if nothing has run on PostgreSQL since.`,
  );
}

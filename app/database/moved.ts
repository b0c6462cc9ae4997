/**
 * The mark beside a SQLite file whose rows are in PostgreSQL now: whoever begins on the file by accident would go on with
 * money that others move on there.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const markOf = (path: string) => `${path}.moved`;

/** Notes beside the file where its rows have gone; on the disk when it returns. */
export function markMoved(path: string, target: string): void {
  const mark = openSync(markOf(path), 'w', 0o600);
  writeSync(mark, `${target}\n`);
  fsyncSync(mark);
  closeSync(mark);
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

/** Throws where the rows of the file have gone elsewhere. */
export function requireNotMoved(path: string): void {
  if (!existsSync(markOf(path))) return;
  const target = readFileSync(markOf(path), 'utf8').trim();
  throw new Error(
    `The rows of ${path} were moved to the PostgreSQL ${target}: start with DATABASE_URL, after migrate-to-postgres has said that all tables are the same. Only where nothing has run there since may ${markOf(path)} be removed, to go on with the file`,
  );
}

/**
 * One process at a time in a data directory. The lock is an open SQLite transaction, so the operating system gives it
 * up with the process, however that ends: there is no stale lock to clear by hand after `kill -9`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Refusal } from '../cli/refusal.ts';

export interface DirectoryLock {
  release(): void;
}

/** Takes the directory, made if missing. Throws Refusal when another process has it. */
export function lockDirectory(dataDir: string): DirectoryLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const pidPath = join(dataDir, 'lock.pid');
  const database = new Database(join(dataDir, 'lock.db'), { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
    throw new Refusal(
      `${dataDir} is in use by another \`npm start\`${holder(pidPath)}. Stop that one, or choose another directory: ` +
        'DATA_DIR=OTHER PORT=0 npm start',
    );
  }
  // Only for the message above; that the process lives is what the lock itself says.
  writeFileSync(pidPath, `${process.pid}\n`);
  return { release: () => database.close() };
}

function holder(pidPath: string): string {
  try {
    return ` (process ${readFileSync(pidPath, 'utf8').trim()})`;
  } catch {
    return '';
  }
}

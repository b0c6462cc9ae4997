/**
 * One process at a time: a lock that is an open SQLite transaction on a file of its own. The operating system gives it up
 * with the process, however that ends, so there is no stale lock to clear by hand after `kill -9`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';

export interface Lock {
  release(): void;
}

/** Another process has the lock. */
export class LockHeld extends Error {
  /** ` (process 123)`, or nothing where that is not known. */
  readonly holder: string;

  constructor(path: string, holder: string) {
    super(`${path} is locked by another process${holder}`);
    this.holder = holder;
  }
}

/** Takes the lock, whose folder is made if missing; `pidPath` is where the holder's process id is noted. Throws LockHeld. */
export function takeLock(path: string, pidPath = `${path}.pid`): Lock {
  const lock = hold(path, pidPath, (database) => void database.exec('BEGIN EXCLUSIVE'));
  // Only for the message of LockHeld; that the process lives is what the lock itself says.
  writeFileSync(pidPath, `${process.pid}\n`);
  return lock;
}

/** Holds the lock together with all others that share it, so that nobody takes it meanwhile. Throws LockHeld where somebody has. */
export function shareLock(path: string): Lock {
  return hold(path, `${path}.pid`, (database) => {
    // To read is what shares it, until the transaction ends.
    database.exec('BEGIN');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
  });
}

function hold(path: string, pidPath: string, begin: (database: Database.Database) => void): Lock {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = new Database(path, { timeout: 0 });
  try {
    begin(database);
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
    throw new LockHeld(path, holderOf(pidPath));
  }
  return { release: () => void database.close() };
}

function holderOf(pidPath: string): string {
  try {
    return ` (process ${readFileSync(pidPath, 'utf8').trim()})`;
  } catch {
    return '';
  }
}

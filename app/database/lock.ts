/**
 * A lock for one process at a time: an open SQLite transaction on a separate file. The operating system releases it
 * when the process ends in any way, so `kill -9` leaves no stale lock.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { makePrivate } from './open.ts';
import { messageOf } from './temporary.ts';

export interface Lock {
  release(): void;
}

/** Another process has the lock. */
export class LockHeld extends Error {
  /** ` (process 123)`, or empty if unknown. */
  readonly holder: string;

  constructor(path: string, holder: string) {
    super(`${path} is locked by another process${holder}`);
    this.holder = holder;
  }
}

/** Takes the lock and creates its folder if missing. The holder's process id goes to `pidPath`. Throws LockHeld. */
export function takeLock(path: string, pidPath = `${path}.pid`): Lock {
  const lock = hold(path, pidPath, (database) => void database.exec('BEGIN EXCLUSIVE'));
  // Only for the message of LockHeld; the lock itself shows that the process lives.
  makePrivate(pidPath);
  writeFileSync(pidPath, `${process.pid}\n`);
  return lock;
}

/** Shares the lock with other holders of it, so that nobody can take it meanwhile. Throws LockHeld if it is taken. */
export function shareLock(path: string): Lock {
  return hold(path, `${path}.pid`, (database) => {
    // A read shares the lock until the transaction ends.
    database.exec('BEGIN');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
  });
}

/** Takes or shares a lock. If another process has it, the error has the words of `explain`, which gets its holder. */
export function requireLock(
  path: string,
  explain: (holder: string) => string,
  take: (path: string) => Lock = takeLock,
): Lock {
  try {
    return take(path);
  } catch (cause) {
    throw cause instanceof LockHeld ? new Error(explain(cause.holder)) : cause;
  }
}

function hold(path: string, pidPath: string, begin: (database: Database.Database) => void): Lock {
  makePrivate(path);
  const database = new Database(path, { timeout: 0 });
  try {
    begin(database);
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw new Error(messageOf(error, path), { cause: error });
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

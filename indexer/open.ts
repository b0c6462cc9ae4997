/** Opens the index, typed and up to date: index.db, or the schema `chain` of a PostgreSQL. */
import { CompiledQuery, type DatabaseConnection } from 'kysely';
import type pg from 'pg';
import { type Lock, LockHeld, takeLock } from '../app/database/lock.ts';
import { MIGRATIONS, migrate, migratePostgres } from '../app/database/migrate.ts';
import { requireNotMoved } from '../app/database/moved.ts';
import { type OpenDatabase, type OpenedDatabase, openDatabase } from '../app/database/open.ts';
import { connectPostgres, isPostgresUrl, lockNumber, openPostgres, SCHEMAS } from '../app/database/postgres.ts';
import { isTemporary } from '../app/database/temporary.ts';
import type { IndexDatabase } from './tables.ts';

/** Most keys are random, so that a page changes the whole width of its indexes: as much of them as this stays in memory, KiB. */
const CACHE_KIB = 128 * 1_024;
/** And is copied from the log into the file this seldom: 64 MiB of pages of 4 KiB. */
const CHECKPOINT_PAGES = 16_384;

/** Of each connection that writes index.db. */
export const INDEX_PRAGMAS = [
  'synchronous = NORMAL',
  'foreign_keys = ON',
  `cache_size = -${CACHE_KIB}`,
  `wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
];

/** Opens index.db for writing and applies its migrations. Throws as `migrate` does. */
export function openIndex(path: string): OpenedDatabase<IndexDatabase> {
  const opened = openDatabase<IndexDatabase>(path);
  try {
    migrate(opened.sqlite, MIGRATIONS.index);
    for (const pragma of INDEX_PRAGMAS) opened.sqlite.pragma(pragma);
  } catch (error) {
    opened.close();
    throw error;
  }
  return opened;
}

/** Opens the index by its path, or by the URL of a PostgreSQL, beside an indexer that may keep it. */
export async function openPlace(place: string): Promise<OpenDatabase<IndexDatabase>> {
  if (!isPostgresUrl(place)) return openIndex(place);
  await migratePostgres(place, SCHEMAS.index, MIGRATIONS.index);
  return openPostgres<IndexDatabase>(place, { schema: SCHEMAS.index });
}

/** The index may be kept by another process now. */
export class LockLost extends Error {
  constructor() {
    super('the connection to PostgreSQL that holds the lock of the indexer was lost');
  }
}

/** How it is to be kept by one process alone. */
export interface Keeping {
  /** Ends the waiting for another indexer. */
  stop: AbortSignal;
  /** Is told once where another indexer keeps the index, and this one stands by. */
  onStandby(): void;
  /** Is told once where the database is away, which is waited for too. */
  onAway?(error: Error): void;
  /** Is told where the index may be kept by another one from now on: nothing may be written any more. */
  onLost(error: Error): void;
}

/**
 * Opens the index for this process alone; closing it gives it up. `place` is the path of index.db, whose second indexer is
 * refused, or the URL of a PostgreSQL, whose second one waits until the first has ended. Null where `stop` ended the waiting.
 */
export async function openAlone(place: string, keeping: Keeping): Promise<OpenDatabase<IndexDatabase> | null> {
  return isPostgresUrl(place) ? openLed(place, keeping) : openLocked(place);
}

/** Two would write the same rows, and both move the cursor. Throws where another indexer has the file. */
function lockIndex(path: string): Lock {
  try {
    return takeLock(`${path}.lock`);
  } catch (cause) {
    if (!(cause instanceof LockHeld)) throw cause;
    throw new Error(
      `${path} is kept by another indexer${cause.holder}: stop that one, wait where it is migrate-to-postgres, or choose another DATA_DIR`,
    );
  }
}

function openLocked(path: string): OpenDatabase<IndexDatabase> {
  const lock = lockIndex(path);
  try {
    requireNotMoved(path);
    const opened = openIndex(path);
    return {
      ...opened,
      close() {
        opened.close();
        lock.release();
      },
    };
  } catch (cause) {
    lock.release();
    throw cause;
  }
}

/** How often a standby asks whether the place is free, and whether a database that is away is back. */
const STANDBY_MS = 500;
/** How often the session that holds the lock shows that its process lives, and how long PostgreSQL waits for that. */
const HEARTBEAT_MS = 2_000;
const LEASE_MS = 10_000;
/** Also where the machine, or the way to it, is gone without a word. */
const LEASE = `SET idle_session_timeout = ${LEASE_MS}; SET tcp_user_timeout = ${LEASE_MS};
  SET tcp_keepalives_idle = 4; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3`;

/** Held by the session of the one indexer that keeps the index, and, shared, by each of its transactions that write. */
const LOCKS = { keeps: lockNumber('indexer'), writes: lockNumber('indexer writes') };

/** Says each of the two once for as long as it lasts. */
function tellingOnce({ onStandby, onAway }: Keeping): (why: 'standby' | 'away', error?: Error) => void {
  let told: 'standby' | 'away' | null = null;
  return (why, error) => {
    if (told !== why && why === 'standby') onStandby();
    if (told !== why && why === 'away') onAway?.(error as Error);
    told = why;
  };
}

const pauseStandby = () => new Promise((resolve) => setTimeout(resolve, STANDBY_MS));

async function openLed(url: string, keeping: Keeping): Promise<OpenDatabase<IndexDatabase> | null> {
  const wait = tellingOnce(keeping);
  for (;;) {
    const session = await lead(url, keeping.stop, wait);
    if (!session) return null;
    try {
      return await openUnder(session, url, keeping);
    } catch (error) {
      if (!isTemporary(error)) throw error;
      // It went away again, or has no second connection: another indexer may have taken the lock.
      wait('away', error as Error);
    }
    await pauseStandby();
  }
}

/** Opens it under the lock that the session holds. */
async function openUnder(session: pg.Client, url: string, keeping: Keeping): Promise<OpenDatabase<IndexDatabase>> {
  const heartbeat = setInterval(() => void session.query('SELECT 1').catch(() => undefined), HEARTBEAT_MS);
  let isOver = false;
  const leave = async () => {
    isOver = true;
    clearInterval(heartbeat);
    await session.end().catch(() => undefined);
  };
  try {
    // What the one before had begun to write ends first.
    await session.query('SELECT pg_advisory_lock($1)', [LOCKS.writes]);
    await session.query('SELECT pg_advisory_unlock($1)', [LOCKS.writes]);
    await migratePostgres(url, SCHEMAS.index, MIGRATIONS.index);
    const { rows } = await session.query('SELECT pg_backend_pid() AS pid');
    session.once('end', () => {
      clearInterval(heartbeat);
      if (!isOver) keeping.onLost(new LockLost());
    });
    const opened = openPostgres<IndexDatabase>(url, {
      schema: SCHEMAS.index,
      synchronousCommit: 'off',
      // What is written outside of a transaction, without being asked for its right, fails.
      readonly: true,
      onBegin: (connection) => requireLead(connection, rows[0].pid),
    });
    return {
      ...opened,
      async close() {
        await opened.close();
        await leave();
      },
    };
  } catch (error) {
    await leave();
    throw error;
  }
}

/**
 * The session that holds the lock, which PostgreSQL gives up with the connection, however its process ends, or soon after it
 * has stopped. Waits for another indexer, and for a database that is away. Null where `stop` ended the waiting.
 */
async function lead(url: string, stop: AbortSignal, wait: ReturnType<typeof tellingOnce>): Promise<pg.Client | null> {
  let session: pg.Client | null = null;
  const give = () => session?.end().catch(() => undefined);
  while (!stop.aborted) {
    try {
      if (!session) {
        session = await connectPostgres(url, SCHEMAS.index);
        await session.query(LEASE);
      }
      const { rows } = await session.query('SELECT pg_try_advisory_lock($1) AS taken', [LOCKS.keeps]);
      if (rows[0].taken === true) return session;
      wait('standby');
    } catch (error) {
      await give();
      session = null;
      if (!isTemporary(error)) throw error;
      wait('away', error as Error);
    }
    await pauseStandby();
  }
  await give();
  return null;
}

/**
 * Makes a transaction one that may write, where the session of this process still holds the lock. Who takes the lock later
 * waits for the transaction: a process that was stopped and goes on writes nothing over what another has written since.
 */
async function requireLead(connection: DatabaseConnection, pid: bigint): Promise<void> {
  const begin = `SET TRANSACTION READ WRITE; SET LOCAL idle_in_transaction_session_timeout = ${LEASE_MS};
    SELECT pg_advisory_xact_lock_shared(${LOCKS.writes})`;
  await connection.executeQuery(CompiledQuery.raw(begin));
  const held = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND pid = $1
    AND (CAST(classid AS BIGINT) << 32 | CAST(objid AS BIGINT)) = $2`;
  const { rows } = await connection.executeQuery(CompiledQuery.raw(held, [pid, LOCKS.keeps]));
  if (rows.length === 0) throw new LockLost();
}

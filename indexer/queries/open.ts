/** Opens the index, typed and migrated: index.db, or the schema `chain` of a PostgreSQL. */
import { existsSync } from 'node:fs';
import { CompiledQuery, type DatabaseConnection, sql } from 'kysely';
import type pg from 'pg';
import { requireLock } from '../../app/database/lock.ts';
import { type Applied, MIGRATIONS, migrate, migratePostgres, pendingOf } from '../../app/database/migrate.ts';
import { requireNotMoved } from '../../app/database/moved.ts';
import { type OpenDatabase, type OpenedDatabase, openDatabase } from '../../app/database/open.ts';
import {
  addressOf,
  connectPostgres,
  isPostgresUrl,
  lockNumber,
  openPostgres,
  SCHEMAS,
} from '../../app/database/postgres.ts';
import { isTemporary } from '../../app/database/temporary.ts';
import type { IndexDatabase } from './tables.ts';

/** Most keys are random, so a batch changes pages all over the indexes. This much of the file stays in memory, KiB. */
const CACHE_KIB = 128 * 1_024;
/** The log is copied into the file after this many pages: 64 MiB of 4 KiB pages. */
const CHECKPOINT_PAGES = 16_384;

/** Settings of each connection that writes index.db. */
const INDEX_PRAGMAS = [
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

/** Opens the index by path or PostgreSQL URL, even while an indexer holds it. */
export async function openPlace(place: string): Promise<OpenDatabase<IndexDatabase>> {
  if (!isPostgresUrl(place)) return openIndex(place);
  await migratePostgres(place, SCHEMAS.index, MIGRATIONS.index);
  return openPostgres<IndexDatabase>(place, { schema: SCHEMAS.index });
}

/** PostgreSQL's code for a table that does not exist, and SQLite's message. */
const isWithoutTable = (error: Error & { code?: string }) =>
  error.code === '42P01' || error.message.startsWith('no such table');

/**
 * Opens the index for reading, even while an indexer of another release writes it: nothing is created or migrated.
 * Throws if there is no index.
 */
export async function openToRead(place: string): Promise<OpenDatabase<IndexDatabase> & { applied: Applied[] }> {
  const isFile = !isPostgresUrl(place);
  const none = `There is no index at ${placeName(place)}. Start the indexer first (npm run indexer)${isFile ? ', or set DATA_DIR to its folder' : ''}.`;
  if (isFile && !existsSync(place)) throw new Error(none);
  const opened = isFile
    ? openDatabase<IndexDatabase>(place, { readonly: true })
    : openPostgres<IndexDatabase>(place, { schema: SCHEMAS.index, readonly: true });
  try {
    const { rows } = await sql<Applied>`SELECT * FROM migrations ORDER BY number`.execute(opened.db);
    return { ...opened, applied: rows };
  } catch (error) {
    await opened.close();
    throw isWithoutTable(error as Error) ? new Error(none) : error;
  }
}

/** The same for an index with exactly the tables of this release. Throws if it has others. */
export async function openFitting(place: string): Promise<OpenDatabase<IndexDatabase>> {
  const opened = await openToRead(place);
  try {
    const [next] = pendingOf(opened.applied, 'index', isPostgresUrl(place) ? 'pg' : 'sqlite', placeName(place));
    if (!next) return opened;
    throw new Error(
      `${placeName(place)} was made by an older release, without the migration ${next.name}. Use that release, or start the indexer of this one first.`,
    );
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The place of an index in messages, without a password. */
export const placeName = (place: string): string => (isPostgresUrl(place) ? addressOf(place) : place);

/** Another process may hold the index now. */
export class LockLost extends Error {
  constructor() {
    super('the connection to PostgreSQL that holds the lock of the indexer was lost');
  }
}

/** Options for holding the index as the only process. */
export interface Keeping {
  /** Stops waiting for another indexer. */
  stop: AbortSignal;
  /** Called once when another indexer holds the index and this one waits. */
  onStandby(): void;
  /** Called once when the database is unreachable; `openAlone` waits for it too. */
  onAway?(error: Error): void;
  /** Called when another indexer may hold the index. Nothing may be written after that. */
  onLost(error: Error): void;
}

/**
 * Opens the index for this process alone; closing releases it. `place` is the path of index.db or the URL of a
 * PostgreSQL. With a file, a second indexer is refused. With PostgreSQL, it waits until the first has ended. Null if
 * `stop` ended the wait.
 */
export async function openAlone(place: string, keeping: Keeping): Promise<OpenDatabase<IndexDatabase> | null> {
  return isPostgresUrl(place) ? openLed(place, keeping) : openLocked(place);
}

function openLocked(path: string): OpenDatabase<IndexDatabase> {
  // Two indexers would write the same rows and both move the cursor.
  const lock = requireLock(
    `${path}.lock`,
    (holder) =>
      `${path} is used by another indexer${holder}: stop it (wait if it is migrate-to-postgres), or choose another DATA_DIR`,
  );
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

/** Milliseconds between attempts of a waiting indexer to take the lock or to reach the database. */
const STANDBY_MS = 500;
/** The session that holds the lock sends a heartbeat. PostgreSQL ends it after LEASE_MS without one. */
const HEARTBEAT_MS = 2_000;
const LEASE_MS = 10_000;
/** The TCP settings cover a machine or network that fails silently. */
const LEASE = `SET idle_session_timeout = ${LEASE_MS}; SET tcp_user_timeout = ${LEASE_MS};
  SET tcp_keepalives_idle = 4; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3`;

/**
 * `keeps` is held by the session of the indexer that holds the index. Each of its write transactions holds `writes`,
 * shared.
 */
const LOCKS = { keeps: lockNumber('indexer'), writes: lockNumber('indexer writes') };

/** Calls each callback once per state, until the state changes. */
function reportingOnce({ onStandby, onAway }: Keeping): (why: 'standby' | 'away', error?: Error) => void {
  let told: 'standby' | 'away' | null = null;
  return (why, error) => {
    if (told !== why && why === 'standby') onStandby();
    if (told !== why && why === 'away') onAway?.(error as Error);
    told = why;
  };
}

const pauseStandby = () => new Promise((resolve) => setTimeout(resolve, STANDBY_MS));

async function openLed(url: string, keeping: Keeping): Promise<OpenDatabase<IndexDatabase> | null> {
  const wait = reportingOnce(keeping);
  for (;;) {
    const session = await lead(url, keeping.stop, wait);
    if (!session) return null;
    try {
      return await openUnder(session, url, keeping);
    } catch (error) {
      if (!isTemporary(error)) throw error;
      // The database is unreachable again, or has no second connection. Another indexer may have taken the lock.
      wait('away', error as Error);
    }
    await pauseStandby();
  }
}

/** Opens the index under the lock that the session holds. */
async function openUnder(session: pg.Client, url: string, keeping: Keeping): Promise<OpenDatabase<IndexDatabase>> {
  const heartbeat = setInterval(() => void session.query('SELECT 1').catch(() => undefined), HEARTBEAT_MS);
  let isOver = false;
  const leave = async () => {
    isOver = true;
    clearInterval(heartbeat);
    await session.end().catch(() => undefined);
  };
  try {
    // Wait until the write transactions of the previous indexer have ended.
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
      seqScans: 'off',
      // A write outside a transaction skips the check of the lock, so it must fail.
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
 * Opens the session that holds the lock. PostgreSQL releases the lock when the connection ends, or soon after the
 * process has stopped. Waits for another indexer, and for an unreachable database. Null if `stop` ended the wait.
 */
async function lead(url: string, stop: AbortSignal, wait: ReturnType<typeof reportingOnce>): Promise<pg.Client | null> {
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
 * Lets a transaction write if the session of this process still holds the lock. The next holder waits for the
 * transaction. A process that was suspended and resumes can therefore not overwrite what another one has written.
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

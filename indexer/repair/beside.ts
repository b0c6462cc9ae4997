/**
 * Builds a second copy of the index tables, then swaps it with the present tables. An indexer and relays may keep using
 * the index meanwhile. Each of their statements and transactions sees only the old tables or only the new ones. No
 * connection must be reopened.
 */
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type pg from 'pg';
import { takeLock } from '../../app/database/lock.ts';
import { MIGRATIONS, migratePostgres } from '../../app/database/migrate.ts';
import {
  connectPostgres,
  isPostgresUrl,
  lockNumber,
  NEW_INDEX,
  openPostgres,
  SCHEMAS,
} from '../../app/database/postgres.ts';
import { isTemporary } from '../../app/database/temporary.ts';
import { openIndex } from '../queries/open.ts';
import type { IndexDatabase } from '../queries/tables.ts';

export interface Beside {
  /** The tables being built. They include what an interrupted build left. */
  db(): Kysely<IndexDatabase>;
  /** Drops the tables being built and starts with empty ones. */
  clear(): Promise<void>;
  /**
   * Replaces the present tables with the new ones, which removes the second copy. `onWaiting` is called every few
   * seconds with the database sessions that block it.
   */
  replace(onWaiting: (sessions: string) => void): Promise<void>;
  /** Keeps the new tables if `replace` was not called. */
  close(): Promise<void>;
}

/** Opens the second copy for this process alone. Throws if another process is building one. */
export function openBeside(place: string): Promise<Beside> {
  return isPostgresUrl(place) ? openSchema(place) : openFile(place);
}

/** SQLite: a second file. One transaction copies its pages into the index file. */
async function openFile(place: string): Promise<Beside> {
  const path = `${place}.new`;
  const lock = takeLock(`${path}.lock`);
  let opened = openIndex(path);
  const remove = () => {
    opened.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  };
  return {
    db: () => opened.db,
    async clear() {
      remove();
      opened = openIndex(path);
    },
    async replace() {
      await opened.sqlite.backup(place);
      remove();
    },
    async close() {
      opened.close();
      lock.release();
    },
  };
}

/** PostgreSQL: a second schema, renamed at the end. */
async function openSchema(url: string): Promise<Beside> {
  const session = await connectPostgres(url, NEW_INDEX);
  try {
    const { rows } = await session.query('SELECT pg_try_advisory_lock($1) AS taken', [lockNumber('rebuild')]);
    if (rows[0].taken !== true) throw new Error('another process is rebuilding the index');
    const migrateNew = () => migratePostgres(url, NEW_INDEX, MIGRATIONS.index);
    await migrateNew();
    const { db, close } = openPostgres<IndexDatabase>(url, {
      schema: NEW_INDEX,
      synchronousCommit: 'off',
      seqScans: 'off',
    });
    return {
      db: () => db,
      async clear() {
        await session.query(`DROP SCHEMA ${NEW_INDEX} CASCADE`);
        await migrateNew();
      },
      async replace(onWaiting) {
        await swap(session, onWaiting);
      },
      async close() {
        await close();
        await session.end();
      },
    };
  } catch (error) {
    await session.end();
    throw error;
  }
}

/**
 * Timeout for locking the present tables. It is shorter than PostgreSQL's deadlock_timeout of 1 s, so a session that
 * waits for this process is never ended as a deadlock victim.
 */
const LOCK_MS = 500;
const PAUSE_MIN_MS = 100;
/** A long read transaction, such as that of `hash`, delays the swap. */
const PAUSE_MAX_MS = 10_000;

async function swap(session: pg.Client, onWaiting: (sessions: string) => void): Promise<void> {
  // Autovacuum analyzes new tables late, and queries are slow until then.
  await session.query(`VACUUM (ANALYZE) ${await namesOf(session, NEW_INDEX, ['r'])}`);
  const report = reportingSeldom(onWaiting);
  await outlastSnapshots(session, report);
  // Includes views: readers lock a view before its tables.
  const present = await namesOf(session, SCHEMAS.index, ['r', 'v']);
  for (let pauseMs = PAUSE_MIN_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
    try {
      await session.query('BEGIN');
      await session.query(`SET LOCAL statement_timeout = ${LOCK_MS}`);
      await session.query(`LOCK TABLE ${present} IN ACCESS EXCLUSIVE MODE`);
      await session.query('SET LOCAL statement_timeout = 0');
      await session.query(`DROP SCHEMA ${SCHEMAS.index} CASCADE`);
      await session.query(`ALTER SCHEMA ${NEW_INDEX} RENAME TO ${SCHEMAS.index}`);
      await session.query('COMMIT');
      return;
    } catch (error) {
      await session.query('ROLLBACK');
      if (!isTemporary(error)) throw error;
    }
    report(await sessionsThat(session, HOLDING, SCHEMAS.index));
    await delay(pauseMs);
  }
}

/** Sessions in a transaction older than 2 s that hold a lock on a table of this schema. */
const HOLDING = `xact_start < clock_timestamp() - interval '2 seconds' AND pid IN (SELECT pid FROM pg_locks WHERE granted
  AND relation IN (SELECT oid FROM pg_class WHERE relnamespace = CAST($1 AS regnamespace)))`;
/** Sessions whose snapshot is older than this transaction. */
const READING_BEFORE = `backend_type = 'client backend'
  AND age(backend_xmin) >= age(CAST(CAST($1 AS xid8) AS xid))`;
/** Shorter waits are not reported. */
const PATIENCE_MS = 3_000;
const REPORT_MS = 10_000;

/** Describes the sessions that match the condition, so that an operator can find and end them; null if none. */
async function sessionsThat(session: pg.Client, condition: string, value: string): Promise<string | null> {
  const { rows } = await session.query<{ sessions: string | null }>(
    `SELECT string_agg(format('pid %s (%s, %s for %s s)', pid, coalesce(nullif(application_name, ''), 'unnamed'), state,
       round(extract(epoch FROM clock_timestamp() - state_change))), ', ' ORDER BY pid) AS sessions
     FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
    [value],
  );
  return rows[0]!.sessions;
}

/** Limits how often `onWaiting` is called. */
function reportingSeldom(onWaiting: (sessions: string) => void): (sessions: string | null) => void {
  let nextMs = performance.now() + PATIENCE_MS;
  return (sessions) => {
    if (sessions === null || performance.now() < nextMs) return;
    nextMs = performance.now() + REPORT_MS;
    onWaiting(sessions);
  };
}

/** The tables of a schema, optionally with its views, quoted for SQL. */
async function namesOf(session: pg.Client, schema: string, kinds: ('r' | 'v')[]): Promise<string> {
  const { rows } = await session.query<{ names: string }>(
    `SELECT string_agg(format('%I.%I', relnamespace::regnamespace, relname), ', ' ORDER BY relname) AS names
     FROM pg_class WHERE relnamespace = CAST($1 AS regnamespace) AND relkind = ANY ($2)`,
    [schema, kinds],
  );
  return rows[0]!.names;
}

/** A transaction with a snapshot from before the end of the build would find the new tables by name, half empty. */
async function outlastSnapshots(session: pg.Client, report: (sessions: string | null) => void): Promise<void> {
  const { rows } = await session.query<{ now: string }>('SELECT CAST(pg_current_xact_id() AS text) AS now');
  for (;;) {
    const sessions = await sessionsThat(session, READING_BEFORE, rows[0]!.now);
    if (sessions === null) return;
    report(sessions);
    await delay(PAUSE_MIN_MS);
  }
}

/**
 * A place beside the index where its tables are built anew, and how they come to stand in the place of the present ones while
 * an indexer follows the chain and relays read: each statement and each transaction of theirs sees all of the old or all of
 * the new, and nobody has to open anything again.
 */
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import { takeLock } from '../app/database/lock.ts';
import { MIGRATIONS, migratePostgres } from '../app/database/migrate.ts';
import {
  connectPostgres,
  isPostgresUrl,
  lockNumber,
  NEW_INDEX,
  openPostgres,
  SCHEMAS,
} from '../app/database/postgres.ts';
import { isTemporary } from '../app/database/temporary.ts';
import { openIndex } from './open.ts';
import type { IndexDatabase } from './tables.ts';

export interface Beside {
  /** Of the tables that are being built; those of a build that was broken off are there already. */
  db(): Kysely<IndexDatabase>;
  /** Drops what is there, and begins with nothing. */
  clear(): Promise<void>;
  /**
   * Puts what was built into the place of the present tables. Nothing is left beside them. `onWaiting` is told which sessions
   * of the database it waits for, every few seconds.
   */
  replace(onWaiting: (sessions: string) => void): Promise<void>;
  /** What was built stays, if it was not put into place. */
  close(): Promise<void>;
}

/** Opens the place beside the index for this process alone. Throws where another one builds there. */
export function openBeside(place: string): Promise<Beside> {
  return isPostgresUrl(place) ? openSchema(place) : openFile(place);
}

/**
 * Readers follow the catalogue by revisions, which may only grow; the indexer may count on while the tables are being replaced.
 * More than it can in that time.
 */
const REVISION_LEAP = 1_000_000n;

async function leapRevision(present: bigint, built: Kysely<IndexDatabase>): Promise<void> {
  const revision = present + REVISION_LEAP;
  await built.updateTable('changed_agents').set({ revision }).execute();
  await built.updateTable('catalogue_revision').set({ revision }).execute();
}

/** SQLite's: a file, whose pages are copied into the other one in one transaction. */
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
      const present = openIndex(place);
      try {
        const known = await present.db.selectFrom('catalogue_revision').select('revision').executeTakeFirstOrThrow();
        await leapRevision(known.revision, opened.db);
      } finally {
        present.close();
      }
      await opened.sqlite.backup(place);
      remove();
    },
    async close() {
      opened.close();
      lock.release();
    },
  };
}

/** PostgreSQL's: a schema, which takes the other one's name. */
async function openSchema(url: string): Promise<Beside> {
  const session = await connectPostgres(url, NEW_INDEX);
  try {
    const { rows } = await session.query('SELECT pg_try_advisory_lock($1) AS taken', [lockNumber('rebuild')]);
    if (rows[0].taken !== true) throw new Error('another process is building the index anew');
    const migrateNew = () => migratePostgres(url, NEW_INDEX, MIGRATIONS.index);
    await migrateNew();
    const { db, close } = openPostgres<IndexDatabase>(url, { schema: NEW_INDEX, synchronousCommit: 'off' });
    return {
      db: () => db,
      async clear() {
        await session.query(`DROP SCHEMA ${NEW_INDEX} CASCADE`);
        await migrateNew();
      },
      async replace(onWaiting) {
        const known = sql<{
          revision: bigint;
        }>`SELECT revision FROM ${sql.table(`${SCHEMAS.index}.catalogue_revision`)}`;
        await leapRevision((await known.execute(db)).rows[0]!.revision, db);
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
 * The present tables are held against everybody for the few statements that this takes. To wait for the locks must take less
 * than PostgreSQL's deadlock_timeout, of a second: then whoever waits for us is never chosen to end a deadlock.
 */
const LOCK_MS = 500;
const PAUSE_MIN_MS = 100;
/** Whoever reads in one long transaction, as `hash` does, holds this up. */
const PAUSE_MAX_MS = 10_000;

async function swap(session: pg.Client, onWaiting: (sessions: string) => void): Promise<void> {
  // Statistics of new tables come late by themselves, and statements are slow without them.
  await session.query(`VACUUM (ANALYZE) ${await namesOf(session, NEW_INDEX, ['r'])}`);
  const tell = tellingSeldom(onWaiting);
  await outlastSnapshots(session, tell);
  // Views among them, which readers lock before their tables.
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
    tell(await sessionsThat(session, HOLDING, SCHEMAS.index));
    await delay(pauseMs);
  }
}

/** Sessions with a lock on a table of this schema, for longer than a statement of ours may wait. */
const HOLDING = `xact_start < clock_timestamp() - interval '2 seconds' AND pid IN (SELECT pid FROM pg_locks WHERE granted
  AND relation IN (SELECT oid FROM pg_class WHERE relnamespace = CAST($1 AS regnamespace)))`;
/** Sessions that read as of a moment before this transaction. */
const READING_BEFORE = `backend_type = 'client backend'
  AND age(backend_xmin) >= age(CAST(CAST($1 AS xid8) AS xid))`;
/** Nobody needs to be told of a wait that is over sooner. */
const PATIENCE_MS = 3_000;
const REPORT_MS = 10_000;

/** The sessions of which that is so, as an operator finds and ends them; null where there are none. */
async function sessionsThat(session: pg.Client, condition: string, value: string): Promise<string | null> {
  const { rows } = await session.query<{ sessions: string | null }>(
    `SELECT string_agg(format('pid %s (%s, %s for %s s)', pid, coalesce(nullif(application_name, ''), 'unnamed'), state,
       round(extract(epoch FROM clock_timestamp() - state_change))), ', ' ORDER BY pid) AS sessions
     FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
    [value],
  );
  return rows[0]!.sessions;
}

/** Tells of them now and then. */
function tellingSeldom(onWaiting: (sessions: string) => void): (sessions: string | null) => void {
  let nextMs = performance.now() + PATIENCE_MS;
  return (sessions) => {
    if (sessions === null || performance.now() < nextMs) return;
    nextMs = performance.now() + REPORT_MS;
    onWaiting(sessions);
  };
}

/** The tables of a schema, or its views too, as statements name them. */
async function namesOf(session: pg.Client, schema: string, kinds: ('r' | 'v')[]): Promise<string> {
  const { rows } = await session.query<{ names: string }>(
    `SELECT string_agg(format('%I.%I', relnamespace::regnamespace, relname), ', ' ORDER BY relname) AS names
     FROM pg_class WHERE relnamespace = CAST($1 AS regnamespace) AND relkind = ANY ($2)`,
    [schema, kinds],
  );
  return rows[0]!.names;
}

/** A transaction that reads as of a moment before the end of the build would find the new tables by their name, half empty. */
async function outlastSnapshots(session: pg.Client, tell: (sessions: string | null) => void): Promise<void> {
  const { rows } = await session.query<{ now: string }>('SELECT CAST(pg_current_xact_id() AS text) AS now');
  for (;;) {
    const sessions = await sessionsThat(session, READING_BEFORE, rows[0]!.now);
    if (sessions === null) return;
    tell(sessions);
    await delay(PAUSE_MIN_MS);
  }
}

/** The indexes of schedules, one after another, in the database that DATABASE names. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenDatabase } from '../../../app/database/open.ts';
import { connectPostgres, NEW_INDEX, SCHEMAS } from '../../../app/database/postgres.ts';
import { openAlone } from '../../../indexer/open.ts';
import type { IndexDatabase } from '../../../indexer/tables.ts';
import { freshPostgres } from '../../harness/postgres.ts';

export interface Ground {
  place: string;
  /** Opens the index as an indexer does, with its exclusive lock. */
  open(): Promise<OpenDatabase<IndexDatabase>>;
  /** Removes the index, which no process has open, and an unfinished rebuild of it. */
  clear(): Promise<void>;
  /** Cuts the connections that read and write the index. Only on PostgreSQL. */
  cut?(): Promise<void>;
  remove(): Promise<void>;
}

/** Backends that hold an exclusive advisory lock, as the session that keeps the index does. */
const KEEPERS = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock'";

export type Databases = 'sqlite' | 'postgres';

export function makeGround(database: Databases): Promise<Ground> {
  return database === 'postgres' ? makeSchemas() : makeFolder();
}

async function open(place: string): Promise<OpenDatabase<IndexDatabase>> {
  const refuse = (what: string) => () => {
    throw new Error(`a schedule's index ${what}`);
  };
  const opened = await openAlone(place, {
    stop: new AbortController().signal,
    onStandby: refuse('is used by another indexer'),
    onLost: refuse('was lost'),
  });
  if (!opened) throw new Error('the index was not opened');
  return opened;
}

async function makeFolder(): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'schedule-'));
  const place = join(folder, 'index.db');
  const remove = async () => rmSync(folder, { recursive: true, force: true });
  return { place, open: () => open(place), clear: remove, remove };
}

/** One database for all schedules: creating one takes longer than a schedule. */
async function makeSchemas(): Promise<Ground> {
  const place = await freshPostgres();
  const session = await connectPostgres(place, SCHEMAS.index);
  return {
    place,
    open: () => open(place),
    async clear() {
      const { rows } = await session.query(
        `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS names FROM pg_tables
         WHERE schemaname = $1 AND tablename <> 'migrations'`,
        [SCHEMAS.index],
      );
      await session.query(`DROP SCHEMA IF EXISTS ${NEW_INDEX} CASCADE; TRUNCATE ${rows[0].names} RESTART IDENTITY`);
    },
    async cut() {
      await session.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid NOT IN (${KEEPERS})`,
      );
    },
    remove: () => session.end(),
  };
}

/** Opens the index, typed and up to date: index.db, or the schema `chain` of a PostgreSQL. */
import { type Lock, LockHeld, takeLock } from '../app/database/lock.ts';
import { MIGRATIONS, migrate, migratePostgres } from '../app/database/migrate.ts';
import { type OpenDatabase, type OpenedDatabase, openDatabase } from '../app/database/open.ts';
import { connectPostgres, isPostgresUrl, lockNumber, openPostgres, SCHEMAS } from '../app/database/postgres.ts';
import type { IndexDatabase } from './tables.ts';

/** Most keys are random, so that a page changes the whole width of its indexes: as much of them as this stays in memory, KiB. */
const CACHE_KIB = 128 * 1_024;
/** And is copied from the log into the file this seldom: 64 MiB of pages of 4 KiB. */
const CHECKPOINT_PAGES = 16_384;

/** Opens index.db for writing and applies its migrations. Throws as `migrate` does. */
export function openIndex(path: string): OpenedDatabase<IndexDatabase> {
  const opened = openDatabase<IndexDatabase>(path);
  try {
    migrate(opened.sqlite, MIGRATIONS.index);
    opened.sqlite.pragma(`cache_size = -${CACHE_KIB}`);
    opened.sqlite.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
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

/** How it is to be kept by one process alone. */
export interface Keeping {
  /** Ends the waiting for another indexer. */
  stop: AbortSignal;
  /** Is told once where another indexer keeps the index, and this one stands by. */
  onStandby(): void;
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
    throw new Error(`${path} is kept by another indexer${cause.holder}: stop that one, or choose another DATA_DIR`);
  }
}

function openLocked(path: string): OpenDatabase<IndexDatabase> {
  const lock = lockIndex(path);
  try {
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

/** How often a standby asks whether the place is free. */
const STANDBY_MS = 500;

async function openLed(url: string, { stop, onStandby, onLost }: Keeping): Promise<OpenDatabase<IndexDatabase> | null> {
  const session = await connectPostgres(url, SCHEMAS.index);
  let isOver = false;
  const leave = async () => {
    isOver = true;
    await session.end().catch(() => undefined);
  };
  try {
    // The lock is the session's: PostgreSQL gives it up with the connection, however its process ends.
    const isLeader = async () => {
      const { rows } = await session.query('SELECT pg_try_advisory_lock($1) AS taken', [lockNumber('indexer')]);
      return rows[0].taken === true;
    };
    if (!(await isLeader())) {
      onStandby();
      do {
        await new Promise((resolve) => setTimeout(resolve, STANDBY_MS));
        if (stop.aborted) {
          await leave();
          return null;
        }
      } while (!(await isLeader()));
    }
    session.once('end', () => {
      if (!isOver) onLost(new Error('the connection to PostgreSQL that holds the lock of the indexer was lost'));
    });
    await migratePostgres(url, SCHEMAS.index, MIGRATIONS.index);
    const opened = openPostgres<IndexDatabase>(url, { schema: SCHEMAS.index, synchronousCommit: 'off' });
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

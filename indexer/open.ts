/** Opens index.db, typed and up to date. */
import { MIGRATIONS, migrate } from '../app/database/migrate.ts';
import { type OpenedDatabase, openDatabase } from '../app/database/open.ts';
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

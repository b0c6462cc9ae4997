/** Opens index.db, typed and up to date. */
import { MIGRATIONS, migrate } from '../app/database/migrate.ts';
import { type OpenedDatabase, openDatabase } from '../app/database/open.ts';
import type { IndexDatabase } from './tables.ts';

/** Opens index.db for writing and applies its migrations. Throws as `migrate` does. */
export function openIndex(path: string): OpenedDatabase<IndexDatabase> {
  const opened = openDatabase<IndexDatabase>(path);
  try {
    migrate(opened.sqlite, MIGRATIONS.index);
  } catch (error) {
    opened.close();
    throw error;
  }
  return opened;
}

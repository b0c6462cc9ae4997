/**
 * The tables that a batch changes row by row through its unit of work: the key of a row, and the unique columns of the
 * database.
 */
import type { IndexDatabase } from '../queries/tables.ts';

export interface StoredTable<Row> {
  name: keyof IndexDatabase & string;
  key: keyof Row & string;
  /** Columns for `ON CONFLICT`. */
  unique: readonly (keyof Row & string)[];
}

function stored<Table extends keyof IndexDatabase>(
  name: Table,
  key: keyof IndexDatabase[Table] & string,
  unique: readonly (keyof IndexDatabase[Table] & string)[] = [key],
): StoredTable<IndexDatabase[Table]> {
  return { name, key, unique };
}

export const STORED = {
  configs: stored('configs', 'config'),
  creators: stored('creators', 'wallet'),
  listings: stored('listings', 'listing'),
  grants: stored('grants', 'grant_address'),
  executions: stored('executions', 'record', ['execution_id']),
  deposits: stored('deposits', 'deposit'),
  disputes: stored('disputes', 'dispute'),
  archives: stored('archives', 'archive'),
  archive_leaves: stored('archive_leaves', 'record', ['tree', 'leaf_index']),
  unclaimed_refunds: stored('unclaimed_refunds', 'claim'),
  unread_accounts: stored('unread_accounts', 'address'),
  listing_versions: stored('listing_versions', 'version'),
  cursor: stored('cursor', 'id'),
};
export type StoredName = keyof typeof STORED;
export type StoredRow<Table extends StoredName> = IndexDatabase[Table];

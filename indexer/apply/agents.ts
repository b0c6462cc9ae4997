/** Keeps the table `agents`, which answers lists, equal to the view `active_agents`. */
import { type Kysely, sql } from 'kysely';
import { textsOf } from '../../app/database/portable.ts';
import type { AgentRow, IndexDatabase } from '../queries/tables.ts';

type Db = Kysely<IndexDatabase>;

/** All but the id. */
const COLUMNS = [
  'listing',
  'creator',
  'verified',
  'price',
  'tag_mask',
  'listed_at',
  'metadata_hash',
  'document',
  'total_executions',
  'success_rate',
  'score',
  'avg_execution_time_ms',
] as const satisfies (keyof AgentRow)[];
/** A listing that changes these gets a new row, and so a new id. */
const CONSTANT: readonly string[] = ['listing', 'creator', 'metadata_hash', 'document'];

const ALL = sql.raw(COLUMNS.join(', '));
const CHANGES = sql.raw(
  COLUMNS.filter((column) => !CONSTANT.includes(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(', '),
);

/** Writes these listings, and all listings of these creators. */
export async function writeAgents(db: Db, listings: Iterable<string>, creators: readonly string[]): Promise<void> {
  const changed = new Set(listings);
  if (creators.length > 0) {
    const query = db.selectFrom('listings').select('listing').where('creator', 'in', textsOf(db, creators));
    for (const { listing } of await query.execute()) changed.add(listing);
  }
  if (changed.size === 0) return;
  const these = textsOf(db, [...changed]);
  await sql`DELETE FROM agents WHERE listing IN ${these} AND NOT EXISTS (
    SELECT 1 FROM listings AS l WHERE l.listing = agents.listing AND l.status = 'active'
      AND l.metadata_hash = agents.metadata_hash AND l.creator = agents.creator)`.execute(db);
  await sql`INSERT INTO agents (${ALL}) SELECT ${ALL} FROM active_agents WHERE listing IN ${these}
    ON CONFLICT (listing) DO UPDATE SET ${CHANGES}`.execute(db);
}

/** The listings with another row than the view has. */
export async function readWrongAgents(db: Db): Promise<string[]> {
  const { rows } = await sql<{ listing: string }>`
    SELECT listing FROM (SELECT ${ALL} FROM agents EXCEPT SELECT ${ALL} FROM active_agents) AS excess
    UNION SELECT listing FROM (SELECT ${ALL} FROM active_agents EXCEPT SELECT ${ALL} FROM agents) AS missing
    ORDER BY listing`.execute(db);
  return rows.map(({ listing }) => listing);
}

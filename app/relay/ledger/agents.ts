/** The tables that answer lists of agents: writes their rows, and stores how far they follow the index. */
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import { textsOf } from '../../database/portable.ts';
import type { AgentsTable, AgentTextsTable, LedgerDatabase, LedgerTables } from './tables.ts';

type Ledger = Kysely<LedgerTables>;
type Views = Kysely<LedgerDatabase>;

export type AgentRow = Omit<AgentsTable, 'id'>;
export type AgentText = Omit<AgentTextsTable, 'id'>;

/** A position in `chain.changed_agents`. The tables follow the index up to and including this row. */
export interface Followed {
  build: string;
  revision: bigint;
  listing: string;
}

/** How far the tables follow the index; null before the first run. */
export async function readFollowed(views: Views): Promise<Followed | null> {
  return (await views.selectFrom('agents_cursor').select(['build', 'revision', 'listing']).executeTakeFirst()) ?? null;
}

/** The texts of these listings, by their addresses. */
export async function readTexts(views: Views, listings: readonly string[]): Promise<Map<string, AgentText>> {
  const rows = await views
    .selectFrom('agents')
    .innerJoin('agent_texts as texts', 'texts.id', 'agents.id')
    .select(['agents.listing', 'texts.metadata_hash', 'texts.description', 'texts.words'])
    .where('agents.listing', 'in', textsOf(views, listings))
    .execute();
  return new Map(rows.map(({ listing, ...text }) => [listing, text]));
}

/** All columns but the id, which only joins the texts. */
export const AGENT_COLUMNS = [
  'listing',
  'creator',
  'verified',
  'is_shown',
  'price',
  'tag_mask',
  'listed_at',
  'total_executions',
  'success_rate',
  'score',
  'avg_execution_time_ms',
] as const satisfies (keyof AgentRow)[];
const TEXT_COLUMNS = ['metadata_hash', 'description', 'words'] as const satisfies (keyof AgentText)[];

/** Changes of some listings. */
export interface AgentChanges {
  rows: readonly AgentRow[];
  /** Changed texts, by the address of the listing. */
  texts: ReadonlyMap<string, AgentText>;
  /** Listings that no longer exist; their texts go with them. */
  gone: readonly string[];
  followed: Followed;
}

/**
 * The statements that write these changes, in one transaction. If another relay has already written newer changes, they
 * overwrite these with older ones and set back the cursor. The newer changes are then read again.
 */
export function agentChanges(ledger: Ledger, { rows, texts, gone, followed }: AgentChanges): CompiledQuery[] {
  const queries: CompiledQuery[] = [];
  if (rows.length > 0) {
    const query = ledger
      .insertInto('agents')
      .values([...rows])
      .onConflict((conflict) => conflict.column('listing').doUpdateSet(toExcluded(AGENT_COLUMNS)));
    queries.push(query.compile());
  }
  if (texts.size > 0) {
    const idOf = (listing: string) => sql<bigint>`(SELECT id FROM agents WHERE listing = ${listing})`;
    const query = ledger
      .insertInto('agent_texts')
      .values([...texts].map(([listing, text]) => ({ id: idOf(listing), ...text })))
      .onConflict((conflict) => conflict.column('id').doUpdateSet(toExcluded(TEXT_COLUMNS)));
    queries.push(query.compile());
  }
  if (gone.length > 0) {
    queries.push(ledger.deleteFrom('agents').where('listing', 'in', textsOf(ledger, gone)).compile());
  }
  const cursor = ledger
    .insertInto('agents_cursor')
    .values({ id: 1n, ...followed })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(followed));
  return [...queries, cursor.compile()];
}

/** The new values of these columns for a row that exists, with each column's type. */
function toExcluded<Column extends string>(columns: readonly Column[]): Record<Column, never> {
  const values = columns.map((column) => [column, sql.ref(`excluded.${column}`)]);
  return Object.fromEntries(values) as Record<Column, never>;
}

/**
 * At most `limit` listings without a description whose document has arrived: it is in `metadata`, or still in
 * `pending_metadata`.
 */
export async function readArrived(views: Views, limit: number): Promise<string[]> {
  const rows = await views
    .selectFrom('agent_texts as texts')
    .innerJoin('agents', 'agents.id', 'texts.id')
    .select('agents.listing')
    .where('texts.description', 'is', null)
    .where(({ exists, or, selectFrom }) =>
      or(
        (['metadata', 'pending_metadata'] as const).map((table) =>
          exists(selectFrom(table).select('document').whereRef(`${table}.metadata_hash`, '=', 'texts.metadata_hash')),
        ),
      ),
    )
    .limit(limit)
    .execute();
  return rows.map(({ listing }) => listing);
}

/** Listings that the index does not have. */
export async function readVanished(views: Views): Promise<string[]> {
  const rows = await views
    .selectFrom('agents')
    .select('listing')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('chain.listings as listings')
            .select('listings.listing')
            .whereRef('listings.listing', '=', 'agents.listing'),
        ),
      ),
    )
    .execute();
  return rows.map(({ listing }) => listing);
}

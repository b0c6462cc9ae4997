/** Lists and searches of agents, on the tables that listed.ts keeps. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isPostgres } from '../../database/portable.ts';
import { wholeTurn } from '../../process/turn.ts';
import { ADDRESS } from '../../sdk/wire/fields.ts';
import type { AgentsQuery } from '../../sdk/wire/wire.ts';
import { AGENT_COLUMNS, type AgentRow } from '../ledger/agents.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import { type Asked, askCreator, askTags, askText, type Description, toMatch, toTsquery } from './words.ts';

type Views = Kysely<LedgerDatabase>;
type Sql = RawBuilder<unknown>;

/** An agent in lists. */
interface ListedAgent extends AgentRow {
  description: Description;
}

const ORDERS: Record<AgentsQuery['sort'], Sql> = {
  total_executions: sql`agents.total_executions DESC, agents.listing`,
  success_rate: sql`agents.success_rate DESC, agents.listing`,
  price_asc: sql`agents.price, agents.listing`,
  price_desc: sql`agents.price DESC, agents.listing`,
  created_at: sql`agents.listed_at DESC, agents.listing`,
  best: sql`agents.score DESC, agents.listing`,
};
const COLUMNS = sql.raw(AGENT_COLUMNS.map((column) => `agents.${column}`).join(', '));

/**
 * Up to this many matches, the query makes PostgreSQL find them before it sorts. Its planner cannot know that two words
 * rarely occur together.
 */
const FEW = 5_000;

/** The active agents with a description that match, and their number. */
export async function findAgents(views: Views, query: AgentsQuery): Promise<{ agents: ListedAgent[]; total: number }> {
  const asked = askedOf(query);
  if (!asked) return { agents: [], total: 0 };
  const filters = filtersOf(query);
  const total = await count(views, asked, filters);
  if (total <= query.offset) return { agents: [], total };
  // SQLite answers synchronously and blocks the event loop for each query, so yield between them.
  await wholeTurn();
  const order = ORDERS[query.sort];
  const where = allOf([...filters, ...asked.map((one) => hasWords(views, one))]);
  const isFenced = isPostgres(views) && asked.length > 0 && total <= FEW;
  const matching = isFenced ? sql`(SELECT * FROM agents WHERE ${where} OFFSET 0) AS agents` : sql`agents`;
  const { rows } = await sql<AgentRow & { description: string }>`
    SELECT ${COLUMNS}, texts.description
    FROM (
      SELECT agents.listing FROM ${matching} WHERE ${isFenced ? sql`true` : where}
      ORDER BY ${order} LIMIT ${query.limit} OFFSET ${query.offset}
    ) AS page
    JOIN agents ON agents.listing = page.listing
    JOIN agent_texts AS texts ON texts.id = agents.id
    ORDER BY ${order}`.execute(views);
  return { agents: rows.map((row) => ({ ...row, description: JSON.parse(row.description) })), total };
}

/** Wallets of creators with all these words in their names, from listings of any status. */
export async function creatorsNamed(views: Views, text: string, limit: number): Promise<string[]> {
  const words = askCreator(text);
  if (words.length === 0) return [];
  const { rows } = await sql<{ creator: string }>`
    SELECT DISTINCT creator FROM agents WHERE ${hasWords(views, { words, address: null })} LIMIT ${limit}`.execute(
    views,
  );
  return rows.map(({ creator }) => creator);
}

/** A condition: all these words, or this address of a listing or a wallet. */
interface Search {
  words: Asked[];
  address: string | null;
}

/** All conditions; null if no agent can meet them. */
function askedOf({ q, tags = [] }: AgentsQuery): Search[] | null {
  const tagged = askTags(tags);
  const words = q === undefined ? [] : askText(q);
  if (!tagged || (q !== undefined && words.length === 0)) return null;
  if (q === undefined || !ADDRESS.test(q)) {
    const all = [...words, ...tagged];
    return all.length > 0 ? [{ words: all, address: null }] : [];
  }
  return [{ words, address: q }, ...(tagged.length > 0 ? [{ words: tagged, address: null }] : [])];
}

/** `is_shown` is a literal, as in the partial indexes: with a bound value SQLite would not use them. */
function filtersOf(query: AgentsQuery): Sql[] {
  const filters: Sql[] = [sql`agents.is_shown = 1`];
  if (query.verified_only) filters.push(sql`agents.verified = 1`);
  if (query.creator !== undefined) filters.push(sql`agents.creator = ${query.creator}`);
  if (query.min_executions) filters.push(sql`agents.total_executions >= ${BigInt(query.min_executions)}`);
  if (query.min_success_rate) filters.push(sql`agents.success_rate >= ${query.min_success_rate}`);
  return filters;
}

const allOf = (conditions: readonly Sql[]): Sql => sql.join([...conditions], sql` AND `);

/**
 * Each database has its own full-text search. SQLite reads the agents in the list's order and looks each up in the
 * search result. The plus keeps it from sorting all matches.
 */
function hasWords(views: Views, { words, address }: Search): Sql {
  if (isPostgres(views)) {
    const has = sql`agents.lexemes @@ CAST(${toTsquery(words)} AS tsquery)`;
    return address === null ? has : sql`(${has} OR agents.listing = ${address} OR agents.creator = ${address})`;
  }
  const found = sql`SELECT rowid FROM agent_words WHERE agent_words MATCH ${toMatch(words)}`;
  return address === null
    ? sql`+agents.id IN (${found})`
    : sql`+agents.id IN (${found} UNION SELECT id FROM agents WHERE listing = ${address} OR creator = ${address})`;
}

async function count(views: Views, asked: readonly Search[], filters: readonly Sql[]): Promise<number> {
  const [first] = asked;
  // All matches are counted here: SQLite takes half the time if it starts with the search result.
  const isJoined = first?.address === null && !isPostgres(views);
  const from = isJoined ? sql`agent_words CROSS JOIN agents ON agents.id = agent_words.rowid` : sql`agents`;
  const has = isJoined ? [sql`agent_words MATCH ${toMatch(first.words)}`] : asked.map((one) => hasWords(views, one));
  const { rows } = await sql<{ total: bigint }>`
    SELECT count(*) AS total FROM ${from} WHERE ${allOf([...filters, ...has])}`.execute(views);
  return Number(rows[0]?.total);
}

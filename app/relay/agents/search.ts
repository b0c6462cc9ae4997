/** Lists and searches of agents: the index's active agents, joined with their documents. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { AgentRow } from '../../../indexer/tables.ts';
import { isPostgres, textsOf } from '../../database/portable.ts';
import { wholeTurn } from '../../process/turn.ts';
import { ADDRESS } from '../../sdk/wire/fields.ts';
import type { AgentsQuery } from '../../sdk/wire/wire.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import type { Undocumented } from './undocumented.ts';
import { type Asked, askCreator, askTags, askText, type Description, toMatch, toTsquery } from './words.ts';

type Views = Kysely<LedgerDatabase>;
type Sql = RawBuilder<unknown>;

/** An agent in lists. */
export interface ListedAgent extends AgentRow {
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

/** Up to this many matches, all are found before they are sorted. */
const FEW = 5_000;
/** With more matches, up to this place of the order the agents are tried one after another. */
const SHALLOW = 200;
/** Ids of documents have 60 bits. SQLite counts this part of them at a time, because it blocks the event loop. */
const PART = 2n ** 60n / 4n;

/** The active agents with a document that match, and their number. */
export async function findAgents(
  { views, undocumented }: { views: Views; undocumented: Undocumented },
  query: AgentsQuery,
): Promise<{ agents: ListedAgent[]; total: number }> {
  const asked = askedOf(query);
  if (!asked) return { agents: [], total: 0 };
  const filters = filtersOf(views, query, asked.mask, await undocumented.read());
  const search: Search = { ...asked, filters };
  const total = await count(views, search);
  const { limit, offset, sort } = query;
  if (total <= offset) return { agents: [], total };
  const page = { order: ORDERS[sort], limit, offset };
  if (sort !== 'best') return { agents: await readPage(views, search, total, page), total };
  // Agents for tests come last.
  const [tested, others] = [FOR_TESTS, sql`NOT ${FOR_TESTS}`].map((one) => ({ ...search, filters: [...filters, one] }));
  const first = total - (await count(views, tested!));
  const agents = offset < first ? await readPage(views, others!, first, page) : [];
  const rest = { ...page, limit: limit - agents.length, offset: Math.max(0, offset - first) };
  if (rest.limit > 0 && first < total) agents.push(...(await readPage(views, tested!, total - first, rest)));
  return { agents, total };
}

/** Wallets of creators with all these words in their names, from listings of any status. */
export async function creatorsNamed(views: Views, text: string, limit: number): Promise<string[]> {
  const words = askCreator(text);
  if (words.length === 0) return [];
  const { rows } = await sql<{ creator: string }>`
    SELECT DISTINCT l.creator FROM ${foundDocuments(views, words)} AS found
    CROSS JOIN documents CROSS JOIN chain.listings AS l
    WHERE documents.id = found.id AND l.metadata_hash = documents.metadata_hash LIMIT ${limit}`.execute(views);
  return rows.map(({ creator }) => creator);
}

/** What agents must meet. */
interface Search {
  /** All these words in the document. */
  words: Asked[];
  /** Each of these words in the document, or one of its standard tags. */
  tagged: Asked[];
  /** The text as an address of a listing or a wallet, and as words: one of them. */
  address: { of: string; words: Asked[] } | null;
  filters: Sql[];
}

/** Null if no agent can meet them. */
function askedOf({ q, tags = [] }: AgentsQuery): (Omit<Search, 'filters'> & { mask: number }) | null {
  const wanted = askTags(tags);
  const words = q === undefined ? [] : askText(q);
  if (!wanted || (q !== undefined && words.length === 0)) return null;
  const { mask } = wanted;
  if (q !== undefined && ADDRESS.test(q)) return { mask, words: wanted.words, tagged: [], address: { of: q, words } };
  const plain = words.filter(({ tagMask }) => tagMask === 0);
  const tagged = words.filter(({ tagMask }) => tagMask !== 0);
  return { mask, words: [...plain, ...wanted.words], tagged, address: null };
}

const FOR_TESTS = sql`(agents.document IN (SELECT id FROM documents WHERE is_sandbox = 1))`;

function filtersOf(views: Views, query: AgentsQuery, mask: number, undocumented: readonly string[]): Sql[] {
  const filters: Sql[] = [];
  if (undocumented.length > 0) filters.push(sql`agents.listing NOT IN ${textsOf(views, undocumented)}`);
  if (query.verified_only) filters.push(sql`agents.verified = 1`);
  if (query.creator !== undefined) filters.push(sql`agents.creator = ${query.creator}`);
  if (query.min_executions) filters.push(sql`agents.total_executions >= ${BigInt(query.min_executions)}`);
  if (query.min_success_rate) filters.push(sql`agents.success_rate >= ${query.min_success_rate}`);
  if (mask) filters.push(sql`agents.tag_mask & ${BigInt(mask)} = ${BigInt(mask)}`);
  return filters;
}

const allOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`true` : sql.join([...conditions], sql` AND `);

/** The ids of documents with all these words. Each database has its own full-text search. */
function foundDocuments(views: Views, words: readonly Asked[]): Sql {
  return isPostgres(views)
    ? sql`(SELECT id FROM documents WHERE lexemes @@ CAST(${toTsquery(words)} AS tsquery))`
    : sql`(SELECT rowid AS id FROM document_words WHERE document_words MATCH ${toMatch(words)})`;
}

/** How the words of an agent are looked up: in the result of a search, or in its document. */
type HasWords = (words: readonly Asked[]) => Sql;

/** The plus keeps SQLite from reading the whole search result in place of the agents in their order. */
const inResult =
  (views: Views): HasWords =>
  (words) =>
    isPostgres(views)
      ? sql`agents.document IN ${foundDocuments(views, words)}`
      : sql`+agents.document IN ${foundDocuments(views, words)}`;

/** For SQLite. */
const inDocument: HasWords = (words) => {
  const has = words.map(({ word, isBeginning }) =>
    isBeginning
      ? sql`instr(' ' || documents.words, ${` ${word}`}) > 0`
      : sql`instr(' ' || documents.words || ' ', ${` ${word} `}) > 0`,
  );
  return sql`EXISTS (SELECT 1 FROM documents WHERE documents.id = agents.document AND ${allOf(has)})`;
};

/** All conditions. Without `has` for the words, the agents come from the search result of these. */
function conditionsOf(views: Views, search: Search, has: HasWords, wordsBy: HasWords | null): Sql[] {
  const { words, tagged, address, filters } = search;
  const conditions = [...filters];
  if (wordsBy && words.length > 0) conditions.push(wordsBy(words));
  for (const one of tagged) conditions.push(sql`(agents.tag_mask & ${BigInt(one.tagMask)} <> 0 OR ${has([one])})`);
  if (address) {
    conditions.push(sql`agents.id IN (
      SELECT id FROM chain.agents AS a WHERE a.listing = ${address.of} OR a.creator = ${address.of}
      UNION SELECT a.id FROM ${foundDocuments(views, address.words)} AS found
      JOIN chain.agents AS a ON a.document = found.id)`);
  }
  return conditions;
}

const AGENTS = sql`chain.agents AS agents`;
/** SQLite starts with the search result. */
const RESULT_AND_AGENTS = sql`document_words CROSS JOIN chain.agents AS agents ON agents.document = document_words.rowid`;
const matches = (words: readonly Asked[]) => sql`document_words MATCH ${toMatch(words)}`;

async function count(views: Views, search: Search): Promise<number> {
  const has = inResult(views);
  if (isPostgres(views)) return countWhere(views, AGENTS, conditionsOf(views, search, has, has));
  const isFound = search.words.length > 0;
  const conditions = conditionsOf(views, search, has, null);
  if (isFound) conditions.push(matches(search.words));
  const id = isFound ? sql`document_words.rowid` : sql`agents.document`;
  let total = 0;
  for (let from = 0n; from < 4n * PART; from += PART) {
    const part = sql`${id} >= ${from} AND ${id} < ${from + PART}`;
    total += await countWhere(views, isFound ? RESULT_AND_AGENTS : AGENTS, [...conditions, part]);
    await wholeTurn();
  }
  return total;
}

async function countWhere(views: Views, from: Sql, conditions: readonly Sql[]): Promise<number> {
  const { rows } = await sql<{ total: bigint }>`
    SELECT count(*) AS total FROM ${from} WHERE ${allOf(conditions)}`.execute(views);
  return Number(rows[0]!.total);
}

interface Page {
  order: Sql;
  limit: number;
  offset: number;
}

/** A page of the `total` agents that match. */
async function readPage(views: Views, search: Search, total: number, page: Page): Promise<ListedAgent[]> {
  const { order, limit, offset } = page;
  const { rows } = await sql<AgentRow & { description: string }>`
    SELECT agents.*, documents.description
    FROM (${orderedIds(views, search, total, page)} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}) AS page
    CROSS JOIN ${AGENTS} CROSS JOIN documents
    WHERE agents.id = page.id AND documents.metadata_hash = agents.metadata_hash
    ORDER BY ${order}`.execute(views);
  return rows.map((row) => ({ ...row, description: JSON.parse(row.description) }));
}

/** The ids of all matches, in the cheapest of some ways. */
function orderedIds(views: Views, search: Search, total: number, { limit, offset }: Page): Sql {
  const has = inResult(views);
  const isSearched = search.words.length + search.tagged.length > 0;
  const isFew = total <= FEW;
  if (isPostgres(views)) {
    const where = allOf(conditionsOf(views, search, has, has));
    // Its planner cannot know that two words rarely occur together.
    if (isSearched && isFew)
      return sql`SELECT agents.id FROM (SELECT * FROM ${AGENTS} WHERE ${where} OFFSET 0) AS agents`;
    return sql`SELECT agents.id FROM ${AGENTS} WHERE ${where}`;
  }
  if (isFew && search.words.length > 0) {
    const where = allOf([matches(search.words), ...conditionsOf(views, search, has, null)]);
    return sql`SELECT agents.id FROM ${RESULT_AND_AGENTS} WHERE ${where}`;
  }
  const by = isFew || offset + limit > SHALLOW ? has : inDocument;
  return sql`SELECT agents.id FROM ${AGENTS} WHERE ${allOf(conditionsOf(views, search, by, by))}`;
}

/** Lists and searches of agents: the index's active agents, joined with their documents. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { AgentRow } from '../../../indexer/queries/tables.ts';
import { isOneOf, isPostgres, textsOf } from '../../database/portable.ts';
import { wholeTurn } from '../../process/turn.ts';
import type { DisputeOutcome } from '../../sdk/wire/choices.ts';
import { ADDRESS } from '../../sdk/wire/fields.ts';
import type { AgentsQuery } from '../../sdk/wire/wire.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import type { Undocumented } from './undocumented.ts';
import { type Asked, askCreator, askTags, askText, type Description, toMatch, toTsquery } from './words.ts';

type Views = Kysely<LedgerDatabase>;
type Sql = RawBuilder<unknown>;

/** An agent in lists. */
interface ListedAgent extends AgentRow {
  open_disputes: bigint;
  description: Description;
}

const KEYS: Record<AgentsQuery['sort'], { column: keyof AgentRow; isDown: boolean }> = {
  total_executions: { column: 'total_executions', isDown: true },
  success_rate: { column: 'success_rate', isDown: true },
  price_asc: { column: 'price', isDown: false },
  price_desc: { column: 'price', isDown: true },
  created_at: { column: 'listed_at', isDown: true },
  best: { column: 'score', isDown: true },
};

/** Up to this many matches of a search are all found before they are sorted. */
const FEW = 1_000;
/** With more, the agents are tried one after another in the order of the list, so many at a time. */
const [FIRST_TRIED, MOST_TRIED] = [500, 2_000];
/** Ids of documents have 60 bits. SQLite reads a quarter of them at a time, because it blocks the event loop. */
const ID_END = 2n ** 60n;
const QUARTERS = [0n, 1n, 2n, 3n].map((part) => ({ from: (part * ID_END) / 4n, to: ((part + 1n) * ID_END) / 4n }));
const ALL: Part = { from: 0n, to: ID_END };

/** Ids of documents from `from` on, below `to`. */
interface Part {
  from: bigint;
  to: bigint;
}

/** The number of a listing's disputes with this outcome. `listing`: the column with its address. */
export const countDisputes = (listing: string, outcome: DisputeOutcome): RawBuilder<bigint> =>
  sql`(SELECT count(*) FROM chain.disputes AS d WHERE d.listing = ${sql.ref(listing)} AND d.outcome = ${outcome})`;

/** The active agents with a document that match, and their number. */
export async function findAgents(
  { views, undocumented }: { views: Views; undocumented: Undocumented },
  query: AgentsQuery,
): Promise<{ agents: ListedAgent[]; total: number }> {
  const asked = askedOf(query);
  if (!asked) return { agents: [], total: 0 };
  const filters = filtersOf(views, query, asked.mask, await undocumented.read());
  const found = await find(views, { ...asked, filters });
  const { search, total } = found;
  const { limit, offset, sort } = query;
  if (total <= offset) return { agents: [], total };
  const { column, isDown } = KEYS[sort];
  const key = sql.ref(`agents.${column}`);
  const page = { key, order: sql`${key}${sql.raw(isDown ? ' DESC' : '')}, agents.listing`, limit, offset };
  if (sort !== 'best') return { agents: await readPage(views, search, page), total };
  // Agents for tests come last.
  const [tested, others] = [FOR_TESTS, sql`NOT ${FOR_TESTS}`].map((one) => ({
    ...search,
    filters: [...search.filters, one],
  }));
  const first = total - (await countWhere(views, conditionsOf(views, tested!)));
  const agents = offset < first ? await readPage(views, others!, page) : [];
  const rest = { ...page, limit: limit - agents.length, offset: Math.max(0, offset - first) };
  if (rest.limit > 0 && first < total) agents.push(...(await readPage(views, tested!, rest)));
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

/** The ids of documents with all these words, in this part of all ids. Each database has its own full-text search. */
function foundDocuments(views: Views, words: readonly Asked[], part = ALL): Sql {
  return isPostgres(views)
    ? sql`(SELECT id FROM documents WHERE lexemes @@ CAST(${toTsquery(words)} AS tsquery))`
    : sql`(SELECT rowid AS id FROM document_words WHERE document_words MATCH ${toMatch(words)}
        AND rowid >= ${part.from} AND rowid < ${part.to})`;
}

/** True for an agent with these words in its document. */
function hasWords(views: Views, words: readonly Asked[]): Sql {
  const has = isPostgres(views)
    ? [sql`documents.lexemes @@ CAST(${toTsquery(words)} AS tsquery)`]
    : words.map(({ word, isBeginning }) =>
        isBeginning
          ? sql`instr(' ' || documents.words, ${` ${word}`}) > 0`
          : sql`instr(' ' || documents.words || ' ', ${` ${word} `}) > 0`,
      );
  return sql`EXISTS (SELECT 1 FROM documents WHERE documents.id = agents.document AND ${allOf(has)})`;
}

/** All that the agents must meet. */
function conditionsOf(views: Views, search: Search): Sql[] {
  return [...search.filters, ...wordsOf(views, search)];
}

function wordsOf(views: Views, { words, tagged }: Search): Sql[] {
  return [
    ...(words.length > 0 ? [hasWords(views, words)] : []),
    ...tagged.map((one) => sql`(${hasTag(one)} OR ${hasWords(views, [one])})`),
  ];
}

const hasTag = ({ tagMask }: Asked): Sql => sql`agents.tag_mask & ${BigInt(tagMask)} <> 0`;

/** The same for agents with documents in this part. SQLite starts with the result of the search. */
function foundIn(views: Views, { words, tagged, address, filters }: Search, part: Part): { from: Sql; where: Sql } {
  const inResult = (some: readonly Asked[]) => sql`agents.document IN ${foundDocuments(views, some, part)}`;
  const conditions = [...filters];
  for (const one of tagged) conditions.push(sql`(${hasTag(one)} OR ${inResult([one])})`);
  if (address) {
    conditions.push(sql`agents.id IN (
      SELECT id FROM chain.agents AS a WHERE a.listing = ${address.of} OR a.creator = ${address.of}
      UNION SELECT a.id FROM ${foundDocuments(views, address.words)} AS found
      JOIN chain.agents AS a ON a.document = found.id)`);
  }
  if (isPostgres(views)) {
    if (words.length > 0) conditions.push(inResult(words));
    return { from: AGENTS, where: allOf(conditions) };
  }
  if (words.length === 0) {
    conditions.push(sql`agents.document >= ${part.from} AND agents.document < ${part.to}`);
    return { from: AGENTS, where: allOf(conditions) };
  }
  return {
    from: sql`document_words CROSS JOIN chain.agents AS agents ON agents.document = document_words.rowid`,
    where: sql`document_words MATCH ${toMatch(words)}
      AND document_words.rowid >= ${part.from} AND document_words.rowid < ${part.to} AND ${allOf(conditions)}`,
  };
}

const AGENTS = sql`chain.agents AS agents`;

/** The number of matches. If a search has few, `search` asks for them by their ids. */
async function find(views: Views, search: Search): Promise<{ search: Search; total: number }> {
  const { words, tagged, address } = search;
  let ids: bigint[] | null = words.length + tagged.length > 0 || address ? [] : null;
  let total = 0;
  for (const part of isPostgres(views) ? [ALL] : QUARTERS) {
    const { from, where } = foundIn(views, search, part);
    if (ids) {
      const { rows } = await sql<{ id: bigint }>`
        SELECT agents.id FROM ${from} WHERE ${where} LIMIT ${FEW + 1}`.execute(views);
      ids.push(...rows.map(({ id }) => id));
      if (ids.length > FEW) ids = null;
      else total = ids.length;
      await wholeTurn();
    }
    if (!ids) total += await countWhere(views, [where], from);
    await wholeTurn();
  }
  if (!ids) return { search, total };
  return {
    search: { words: [], tagged: [], address: null, filters: [isOneOf(views, 'agents.id', ids)] },
    total,
  };
}

async function countWhere(views: Views, conditions: readonly Sql[], from = AGENTS): Promise<number> {
  const { rows } = await sql<{ total: bigint }>`
    SELECT count(*) AS total FROM ${from} WHERE ${allOf(conditions)}`.execute(views);
  return Number(rows[0]!.total);
}

interface Page {
  /** The column of the order, and the whole order. */
  key: Sql;
  order: Sql;
  limit: number;
  offset: number;
}

async function readPage(views: Views, search: Search, page: Page): Promise<ListedAgent[]> {
  const { order, limit, offset } = page;
  const isSearched = search.words.length + search.tagged.length > 0;
  const isHere = isSearched
    ? isOneOf(views, 'agents.id', await tryInOrder(views, search, page))
    : sql`agents.id IN (SELECT agents.id FROM ${AGENTS} WHERE ${allOf(conditionsOf(views, search))}
          ORDER BY ${order} LIMIT ${limit} OFFSET ${offset})`;
  const { rows } = await sql<Omit<ListedAgent, 'description'> & { description: string }>`
    SELECT agents.*, documents.description, ${countDisputes('agents.listing', 'open')} AS open_disputes
    FROM ${AGENTS} JOIN documents ON documents.metadata_hash = agents.metadata_hash
    WHERE ${isHere} ORDER BY ${order}`.execute(views);
  return rows.map((row) => ({ ...row, description: JSON.parse(row.description) }));
}

/** The ids of a page of a search with many matches. */
async function tryInOrder(views: Views, search: Search, { key, order, limit, offset }: Page): Promise<bigint[]> {
  const found: bigint[] = [];
  for (let from = 0, tried = FIRST_TRIED; found.length < offset + limit; ) {
    const { rows } = await sql<{ id: bigint; is_found: bigint }>`
      SELECT agents.id, ${allOf(wordsOf(views, search))} AS is_found FROM (
        SELECT agents.id, agents.document, agents.tag_mask, ${key}, agents.listing FROM ${AGENTS}
        WHERE ${allOf(search.filters)} ORDER BY ${order} LIMIT ${tried} OFFSET ${from}) AS agents
      ORDER BY ${order}`.execute(views);
    for (const { id, is_found } of rows) if (is_found) found.push(id);
    if (rows.length < tried) break;
    from += tried;
    tried = Math.min(2 * tried, MOST_TRIED);
    await wholeTurn();
  }
  return found.slice(offset, offset + limit);
}

/** Creators as the admin sees them, who gives and takes their badge: by what they have listed and earned. */
import { type Kysely, sql } from 'kysely';
import { readTogether } from '../../database/portable.ts';
import type { CreatorSummary } from '../../sdk/wire/procedures.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import type { ListedAgents } from './listed/listedAgents.ts';
import type { Model } from './listed/model.ts';
import { statisticsOf } from './ownListings.ts';

export interface CreatorsDeps {
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  listed: ListedAgents;
}

export interface CreatorsQuery {
  q?: string | undefined;
  verified?: boolean | undefined;
  limit: number;
  offset: number;
}

interface Row {
  wallet: string;
  verified: bigint;
  verified_at: bigint | null;
}

/** Who listed last comes first. */
export async function listCreators(
  { views, listed }: CreatorsDeps,
  query: CreatorsQuery,
): Promise<{ creators: CreatorSummary[]; total: number }> {
  const named = query.q === undefined ? null : await walletsNamed(listed, query.q);
  const filters = [
    query.verified === undefined ? sql`1 = 1` : sql`verified = ${query.verified ? 1n : 0n}`,
    named === null ? sql`1 = 1` : sql`wallet IN (${sql.join(named)})`,
  ];
  const matching = sql`(
    SELECT known.wallet AS wallet, coalesce(c.verified, 0) AS verified, c.verified_at AS verified_at
    FROM (SELECT creator AS wallet FROM chain.listings UNION SELECT wallet FROM chain.creators) AS known
    LEFT JOIN chain.creators AS c ON c.wallet = known.wallet
  ) AS matching WHERE ${sql.join(filters, sql` AND `)}`;
  const model = await listed.current();
  // One transaction, so that page and total are of the same moment.
  return readTogether(views, async (views) => {
    const counted = await sql<{ total: bigint }>`SELECT count(*) AS total FROM ${matching}`.execute(views);
    const { rows } = await sql<Row>`SELECT * FROM ${matching}
      ORDER BY (SELECT max(listed_at) FROM chain.listings AS l WHERE l.creator = wallet) DESC NULLS LAST, wallet
      LIMIT ${query.limit} OFFSET ${query.offset}`.execute(views);
    return { creators: await summarize(views, model, rows), total: Number(counted.rows[0]?.total ?? 0n) };
  });
}

/** Creators whose names are looked at; who gives more words finds the one that is meant. */
const MAX_NAMED = 1_000;

/** The wallet that this is, and those of creators with these words in their names. */
async function walletsNamed(listed: ListedAgents, text: string): Promise<string[]> {
  const agents = (await listed.current()).ofCreatorsNamed(text);
  return [...new Set([text, ...agents.map((agent) => agent.creator)])].slice(0, MAX_NAMED);
}

async function summarize(views: CreatorsDeps['views'], model: Model, rows: Row[]): Promise<CreatorSummary[]> {
  const wallets = rows.map((row) => row.wallet);
  if (wallets.length === 0) return [];
  const listings = await views
    .selectFrom('chain.listings')
    .select(['listing', 'creator', 'status'])
    .where('creator', 'in', wallets)
    .orderBy('listed_at', 'desc')
    .execute();
  const statistics = await statisticsOf(
    views,
    listings.map((listing) => listing.listing),
  );
  return rows.map((row) => {
    const own = listings.filter((listing) => listing.creator === row.wallet);
    const figures = own.flatMap(({ listing }) => statistics.get(listing) ?? []);
    const [described] = own.flatMap(({ listing }) => model.get(listing)?.description ?? []);
    return {
      wallet: row.wallet,
      display_name: described?.display_name ?? null,
      verified: row.verified === 1n,
      verified_at: row.verified_at === null ? null : toTime(row.verified_at),
      listings: own.filter(({ status }) => status !== 'delisted').length,
      total_executions: figures.reduce((sum, one) => sum + Number(one.total_executions), 0),
      earned_usdc: toUsdc(figures.reduce((sum, one) => sum + one.earned, 0n)),
    };
  });
}

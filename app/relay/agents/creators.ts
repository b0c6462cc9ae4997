/** Creators with their listings and earnings, for the admin, who grants and revokes their badge. */
import { type RawBuilder, sql } from 'kysely';
import { countRows, textsOf } from '../../database/portable.ts';
import { wholeTurn } from '../../process/turn.ts';
import { MAX_OTHER_NAMES } from '../../sdk/wire/choices.ts';
import type { CreatorSummary, DisputeOutcome } from '../../sdk/wire/procedures.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import type { Databases } from '../ledger/tables.ts';
import { statisticsOf } from './ownListings.ts';
import { countDisputes, creatorsNamed } from './search.ts';
import type { Description } from './words.ts';

type CreatorsDeps = Pick<Databases, 'views'>;

interface CreatorsQuery {
  q?: string | undefined;
  verified?: boolean | undefined;
  limit: number;
  offset: number;
}

/** Maximum creators matched by name; more words narrow the search. */
const MAX_NAMED = 1_000;

/** Creators with the newest listing come first. */
export async function listCreators(
  { views }: CreatorsDeps,
  query: CreatorsQuery,
): Promise<{ creators: CreatorSummary[]; total: number }> {
  const { q } = query;
  // The search text as a wallet, and the wallets of creators with these words in their names.
  const named = q === undefined ? null : [q, ...(await creatorsNamed(views, q, MAX_NAMED - 1))];
  const known = knownCreators(views, query.verified, named);
  const { rows } = await sql<{ wallet: string }>`
    ${known} ORDER BY listed_at DESC, wallet LIMIT ${query.limit} OFFSET ${query.offset}`.execute(views);
  // SQLite answers synchronously and blocks the event loop for each query, so yield between them.
  await wholeTurn();
  const total = await countRows(views, known);
  const creators = await summarize(
    views,
    rows.map(({ wallet }) => wallet),
  );
  return { creators, total };
}

/** Creators with the time of their newest listing, and wallets without a listing that have or had the badge. */
function knownCreators(views: CreatorsDeps['views'], verified: boolean | undefined, named: string[] | null) {
  const only = (wallet: RawBuilder<unknown>) => sql`
    ${verified === undefined ? sql`true` : sql`coalesce(verified, 0) = ${verified ? 1n : 0n}`}
    AND ${named === null ? sql`true` : sql`${wallet} IN ${textsOf(views, named)}`}`;
  return sql`
    SELECT listings.creator AS wallet, max(listings.listed_at) AS listed_at FROM chain.listings AS listings
    LEFT JOIN chain.creators AS creators ON creators.wallet = listings.creator
    WHERE ${only(sql`listings.creator`)} GROUP BY listings.creator
    UNION ALL
    SELECT wallet, -1 FROM chain.creators AS creators WHERE ${only(sql`wallet`)}
      AND NOT EXISTS (SELECT 1 FROM chain.listings AS listings WHERE listings.creator = creators.wallet)`;
}

/** The creator's name in the description of a listing, if it has one. */
const nameOf = ({ description }: { description: string | null }): string[] =>
  description === null ? [] : [(JSON.parse(description) as Description).display_name];

async function summarize(views: CreatorsDeps['views'], wallets: string[]): Promise<CreatorSummary[]> {
  if (wallets.length === 0) return [];
  const badges = await views
    .selectFrom('chain.creators')
    .select(['wallet', 'verified', 'verified_at'])
    .where('wallet', 'in', wallets)
    .execute();
  const listings = await views
    .selectFrom('chain.listings as listings')
    .leftJoin('documents', 'documents.metadata_hash', 'listings.metadata_hash')
    .select(['listings.listing', 'listings.creator', 'listings.status', 'listings.listed_at', 'documents.description'])
    .select([
      countDisputes('listings.listing', 'open').as('open'),
      countDisputes('listings.listing', 'rejected').as('rejected'),
      countDisputes('listings.listing', 'upheld').as('upheld'),
      countDisputes('listings.listing', 'lapsed').as('lapsed'),
    ])
    .where('listings.creator', 'in', wallets)
    .orderBy('listings.listed_at', 'desc')
    .execute();
  const statistics = await statisticsOf(
    views,
    listings.map((listing) => listing.listing),
  );
  return wallets.map((wallet) => {
    const badge = badges.find((row) => row.wallet === wallet);
    const own = listings.filter((listing) => listing.creator === wallet);
    const sumOf = (outcome: DisputeOutcome) => own.reduce((sum, one) => sum + Number(one[outcome]), 0);
    const figures = own.flatMap(({ listing }) => statistics.get(listing) ?? []);
    const [newest = null] = own.flatMap(nameOf);
    const names = new Set(own.filter(({ status }) => status !== 'delisted').flatMap(nameOf));
    if (newest !== null) names.delete(newest);
    return {
      wallet,
      display_name: newest,
      other_names: [...names].slice(0, MAX_OTHER_NAMES),
      verified: badge?.verified === 1n,
      verified_at: badge ? toTime(badge.verified_at) : null,
      listings: own.filter(({ status }) => status !== 'delisted').length,
      total_executions: figures.reduce((sum, one) => sum + Number(one.total_executions), 0),
      failed_executions: figures.reduce(
        (sum, one) => sum + Number(one.total_executions - one.successful_executions),
        0,
      ),
      earned_usdc: toUsdc(figures.reduce((sum, one) => sum + one.earned, 0n)),
      disputes: { open: sumOf('open'), rejected: sumOf('rejected'), upheld: sumOf('upheld'), lapsed: sumOf('lapsed') },
      // The newest comes first.
      listed_since: own.length === 0 ? null : toTime(own.at(-1)!.listed_at),
    };
  });
}

/** A creator's own listings, including delisted ones, with their collateral, earnings and disputes. */
import { sql } from 'kysely';
import type { AgentStatisticsRow } from '../../../indexer/queries/tables.ts';
import { hasRows } from '../../database/portable.ts';
import type { AgentMetadata } from '../../sdk/wire/metadata.ts';
import { tagsOfMask } from '../../sdk/wire/metadata.ts';
import type { OwnListing } from '../../sdk/wire/procedures.ts';
import { dayOf, toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { ApiError } from '../errors.ts';
import { readDocument } from '../ledger/metadata.ts';
import type { Databases } from '../ledger/tables.ts';
import type { ChainClock } from '../waiting.ts';
import { countDisputes } from './search.ts';

type OwnListingsDeps = Pick<Databases, 'views'> & ChainClock;

/** Throws ApiError 404 for everybody but the listing's creator. */
export async function requireOwn(views: OwnListingsDeps['views'], wallet: string, listing: string): Promise<void> {
  const own = sql`SELECT 1 FROM chain.listings WHERE listing = ${listing} AND creator = ${wallet}`;
  if (!(await hasRows(views, own)))
    throw new ApiError('agent_not_found', 'This wallet has no listing with this agent_id');
}

/** True if the wallet has ever listed an agent. */
export const hasListings = ({ views }: Pick<OwnListingsDeps, 'views'>, wallet: string): Promise<boolean> =>
  hasRows(views, sql`SELECT 1 FROM chain.listings WHERE creator = ${wallet}`);

/** Newest first. */
export async function listOwn(
  { views, accounts }: OwnListingsDeps,
  wallet: string,
): Promise<{ listings: OwnListing[] }> {
  const yesterday = BigInt(dayOf(accounts.clock()) - 1);
  const rows = await readRows(views, wallet, yesterday);
  const statistics = await statisticsOf(
    views,
    rows.map((row) => row.listing),
  );
  const listings = rows.map(async (row) => {
    const text = row.is_copy === 1n ? undefined : await readDocument(views, row.metadata_hash);
    return toOwn(row, text ?? null, statistics.get(row.listing));
  });
  return { listings: await Promise.all(listings) };
}

/** Statistics of the listings that were ever called, by address. */
export async function statisticsOf(
  views: OwnListingsDeps['views'],
  listings: string[],
): Promise<Map<string, AgentStatisticsRow>> {
  if (listings.length === 0) return new Map();
  const rows = await views.selectFrom('chain.agent_statistics').selectAll().where('listing', 'in', listings).execute();
  return new Map(rows.map((row) => [row.listing, row]));
}

/**
 * True unless the row `listings` carried its document before any other creator's listing could. The endpoint in a
 * document is its creator's secret, but anybody can copy its hash from the chain, also into an older listing. The index
 * knows when a version began, and not since which version the hash is the same.
 */
export const isCopy = sql<boolean>`EXISTS (SELECT 1 FROM chain.listings AS o
  LEFT JOIN chain.listing_versions AS first ON first.version = o.listing || ' 1'
  LEFT JOIN chain.listing_versions AS present
    ON present.version = listings.listing || ' ' || CAST(listings.listing_version AS TEXT)
  WHERE o.metadata_hash = listings.metadata_hash AND o.creator <> listings.creator
    AND NOT (listings.listing_version = 1 AND listings.listed_at < o.listed_at)
    AND NOT coalesce(present.slot < first.slot, false))`;

function readRows(views: OwnListingsDeps['views'], wallet: string, yesterday: bigint) {
  const since = (figure: string) => sql<bigint>`(SELECT CAST(coalesce(sum(${sql.raw(figure)}), 0) AS BIGINT)
    FROM chain.agent_days AS a WHERE a.listing = listings.listing AND a.day >= ${yesterday})`;
  return views
    .selectFrom('chain.listings as listings')
    .selectAll()
    .select([
      sql<bigint>`CASE WHEN ${isCopy} THEN 1 ELSE 0 END`.as('is_copy'),
      countDisputes('listings.listing', 'open').as('open_disputes'),
      since("CASE WHEN a.outcome = 'refunded' THEN 0 ELSE a.executions END").as('latest_executions'),
      since("CASE WHEN a.outcome IN ('failed', 'dispute_upheld') THEN a.executions ELSE 0 END").as('latest_failed'),
      since('a.earned').as('latest_earned'),
    ])
    .where('listings.creator', '=', wallet)
    .orderBy('listings.listed_at', 'desc')
    .orderBy('listings.listing')
    .execute();
}

type Row = Awaited<ReturnType<typeof readRows>>[number];

function toOwn(row: Row, metadata: string | null, statistics: AgentStatisticsRow | undefined): OwnListing {
  return {
    agent_id: row.listing,
    name: metadata === null ? null : (JSON.parse(metadata) as AgentMetadata).name,
    status: row.status,
    price_usdc: toUsdc(row.price),
    timeout_seconds: Number(row.timeout_seconds),
    min_timeout_seconds: Number(row.min_timeout_seconds),
    tags: tagsOfMask(Number(row.tag_mask)),
    signing_key: row.signing_key,
    metadata_hash: row.metadata_hash,
    metadata_uri: row.metadata_uri,
    listing_version: Number(row.listing_version),
    listed_at: toTime(row.listed_at),
    metadata,
    collateral: {
      deposited_usdc: toUsdc(row.deposited),
      slashed_usdc: toUsdc(row.slashed),
      forfeited_usdc: toUsdc(row.forfeited),
      returnable_at: row.returnable_at === null ? null : toTime(row.returnable_at),
      returned: row.collateral_returned === 1n,
    },
    total_executions: Number(statistics?.total_executions ?? 0n),
    success_rate: statistics?.success_rate ?? 0,
    earned_usdc: toUsdc(statistics?.earned ?? 0n),
    latest: {
      executions: Number(row.latest_executions),
      failed: Number(row.latest_failed),
      earned_usdc: toUsdc(row.latest_earned),
    },
    open_disputes: Number(row.open_disputes),
  };
}

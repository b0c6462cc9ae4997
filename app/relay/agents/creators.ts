/** Creators as the admin sees them, who gives and takes their badge: by what they have listed and earned. */
import type { Kysely } from 'kysely';
import type { CreatorSummary } from '../../sdk/wire/procedures.ts';
import { toTime } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';
import type { ListedAgents } from './listed/listedAgents.ts';
import type { Model } from './listed/model.ts';
import { createTurns, sortInTurns } from './listed/turns.ts';
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

interface Known {
  wallet: string;
  verified: boolean;
  verified_at: bigint | null;
  /** Of its newest listing, unix seconds; -1 where it has none. */
  listedAt: number;
}

/** Who listed last comes first. */
export async function listCreators(
  { views, listed }: CreatorsDeps,
  query: CreatorsQuery,
): Promise<{ creators: CreatorSummary[]; total: number }> {
  const named = query.q === undefined ? null : new Set(await walletsNamed(listed, query.q));
  const model = await listed.current();
  const known = (await knownCreators(views, model)).filter(
    ({ wallet, verified }) =>
      (query.verified === undefined || verified === query.verified) && (named === null || named.has(wallet)),
  );
  const ordered = await sortInTurns(
    known,
    (one, other) => other.listedAt - one.listedAt || (one.wallet < other.wallet ? -1 : 1),
  );
  const page = ordered.slice(query.offset, query.offset + query.limit);
  return { creators: await summarize(views, model, page), total: known.length };
}

/** All who have listed or had the badge: in turns, because they may be as many as there are listings. */
async function knownCreators(views: CreatorsDeps['views'], model: Model): Promise<Known[]> {
  const pause = createTurns();
  const known = new Map<string, Known>();
  for (const agent of model.all()) {
    await pause();
    if (!agent) continue;
    const { creator: wallet, listedAt } = agent;
    const before = known.get(wallet);
    if (before && before.listedAt >= listedAt) continue;
    known.set(wallet, { wallet, listedAt, verified: false, verified_at: null });
  }
  // One row for each whom the admin ever gave it.
  const badges = await views.selectFrom('chain.creators').select(['wallet', 'verified', 'verified_at']).execute();
  for (const { wallet, verified, verified_at } of badges) {
    const listedAt = known.get(wallet)?.listedAt ?? -1;
    known.set(wallet, { wallet, listedAt, verified: verified === 1n, verified_at });
  }
  return [...known.values()];
}

/** Creators whose names are looked at; who gives more words finds the one that is meant. */
const MAX_NAMED = 1_000;

/** The wallet that this is, and those of creators with these words in their names. */
async function walletsNamed(listed: ListedAgents, text: string): Promise<string[]> {
  const agents = (await listed.current()).ofCreatorsNamed(text);
  return [...new Set([text, ...agents.map((agent) => agent.creator)])].slice(0, MAX_NAMED);
}

async function summarize(views: CreatorsDeps['views'], model: Model, page: Known[]): Promise<CreatorSummary[]> {
  const wallets = page.map(({ wallet }) => wallet);
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
  return page.map(({ wallet, verified, verified_at }) => {
    const own = listings.filter((listing) => listing.creator === wallet);
    const figures = own.flatMap(({ listing }) => statistics.get(listing) ?? []);
    const [described] = own.flatMap(({ listing }) => model.get(listing)?.description ?? []);
    return {
      wallet,
      display_name: described?.display_name ?? null,
      verified,
      verified_at: verified_at === null ? null : toTime(verified_at),
      listings: own.filter(({ status }) => status !== 'delisted').length,
      total_executions: figures.reduce((sum, one) => sum + Number(one.total_executions), 0),
      earned_usdc: toUsdc(figures.reduce((sum, one) => sum + one.earned, 0n)),
    };
  });
}

/**
 * Updates the ledger's tables of agents, which answer lists and searches. The indexer numbers its changes. Before each
 * list this module reads the changes since the last update, and newly arrived documents. All relays on a ledger share
 * the tables, so their lists are the same.
 */
import { setImmediate } from 'node:timers/promises';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { textsOf } from '../../database/portable.ts';
import type { AgentMetadata } from '../../sdk/wire/metadata.ts';
import {
  type AgentChanges,
  type AgentRow,
  type AgentText,
  agentChanges,
  type Followed,
  readArrived,
  readFollowed,
  readTexts,
  readVanished,
} from '../ledger/agents.ts';
import { readListedPending } from '../ledger/metadata.ts';
import { type PendingDeps, promotePending } from './pendingMetadata.ts';
import { type Description, searchableWords } from './words.ts';

/** Listings per batch: their documents are at most 4 MiB together. */
const SLICE = 64;
/**
 * Batches that a list waits for. If there are more, as after a rebuild of the index, it is answered from the current
 * tables.
 */
const WAITED = 50;
const LOCK = 'agents';

export type ListedAgents = ReturnType<typeof createListedAgents>;

interface ListedDeps extends PendingDeps {
  /** Writes to the ledger. */
  writes: Pick<GroupCommit, 'alone'>;
}

export function createListedAgents(deps: ListedDeps) {
  const { ledger, views, writes } = deps;
  let following: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  let isLong = false;

  /** Writes the next batch. Returns true if more may follow. */
  async function takeNext(): Promise<boolean> {
    const { build } = await views.selectFrom('chain.catalogue_revision').select('build').executeTakeFirstOrThrow();
    const followed = await readFollowed(views);
    if (followed?.build !== build) {
      const beginning = { build, revision: -1n, listing: '' };
      await write({ rows: [], texts: new Map(), gone: await readVanished(views), followed: beginning });
      return true;
    }
    const changed = await readChanged(deps, followed);
    const last = changed.at(-1);
    const listings = last ? changed.map(({ listing }) => listing) : await readArrived(views, SLICE);
    if (listings.length === 0) return false;
    await write({ ...(await readNow(deps, listings)), followed: { ...followed, ...last } });
    return true;
  }

  const write = (changes: AgentChanges) => writes.alone([LOCK], agentChanges(ledger, changes));

  /** Writes batches until none is left. Calls `answer` after `WAITED` of them. */
  async function follow(answer: () => void): Promise<void> {
    try {
      for (let taken = 1; await takeNext(); taken += 1) {
        if (taken === WAITED) {
          isLong = true;
          answer();
        }
        await setImmediate();
      }
    } catch (error) {
      // The lists were answered already: nobody else reports it.
      if (isLong) deps.log.warn({ error }, 'cannot update the lists of agents');
      throw error;
    } finally {
      following = null;
      isLong = false;
    }
  }

  function start(): Promise<void> {
    next = null;
    return new Promise((resolve, reject) => {
      following = follow(resolve).then(resolve, reject);
    });
  }

  return {
    /**
     * Resolves when the tables match the index as of now, or at once while they follow a long backlog. A caller during
     * a run waits for the run after it.
     */
    current(): Promise<void> {
      if (next) return next;
      if (!following) return start();
      if (isLong) return Promise.resolve();
      next = following.then(start);
      return next;
    },
  };
}

/** The next batch of listings that the index changed. */
function readChanged({ views }: PendingDeps, { revision, listing }: Followed) {
  return views
    .selectFrom('chain.changed_agents')
    .select(['revision', 'listing'])
    .where(({ eb, refTuple, tuple }) => eb(refTuple('revision', 'listing'), '>', tuple(revision, listing)))
    .orderBy('revision')
    .orderBy('listing')
    .limit(SLICE)
    .execute();
}

/** The current state of these listings, with the available documents. */
async function readNow(deps: PendingDeps, listings: readonly string[]): Promise<Omit<AgentChanges, 'followed'>> {
  const rows = await readListings(deps, listings);
  const known = await readTexts(deps.views, listings);
  const descriptions = await describe(deps, rows, known);
  const agents: AgentRow[] = [];
  const texts = new Map<string, AgentText>();
  for (const { status, metadata_hash, verified, total_executions, successful_executions, ...row } of rows) {
    const description = descriptions.get(metadata_hash) ?? null;
    agents.push({
      ...row,
      verified: verified ?? 0n,
      is_shown: status === 'active' && description ? 1n : 0n,
      total_executions: total_executions ?? 0n,
      success_rate: row.success_rate ?? 0,
      score: scoreOf(description, total_executions ?? 0n, successful_executions ?? 0n),
      avg_execution_time_ms: row.avg_execution_time_ms ?? 0n,
    });
    const words = searchableWords(description, Number(row.tag_mask));
    const before = known.get(row.listing);
    const isSame = before?.metadata_hash === metadata_hash && before.words === words;
    if (isSame && (before.description === null) === (description === null)) continue;
    texts.set(row.listing, {
      metadata_hash,
      description: description && JSON.stringify(description),
      words,
    });
  }
  const here = new Set(rows.map(({ listing }) => listing));
  return { rows: agents, texts, gone: listings.filter((listing) => !here.has(listing)) };
}

/** Assumed calls, half of them successful, added to an agent's own: a few calls decide little. */
const PRIOR_CALLS = 10;
/** Agents with this tag are for tests. */
const SANDBOX = 'sandbox';

/** The order `best`: the expected success rate of the next call, from 0 to 1. Agents for tests come last. */
export function scoreOf(description: Description | null, total: bigint, successful: bigint): number {
  const rate = (Number(successful) + PRIOR_CALLS / 2) / (Number(total) + PRIOR_CALLS);
  return description?.custom_tags.includes(SANDBOX) ? rate - 1 : rate;
}

type Listing = Awaited<ReturnType<typeof readListings>>[number];

function readListings({ views }: PendingDeps, listings: readonly string[]) {
  return views
    .selectFrom('chain.listings as listings')
    .leftJoin('chain.creators as creators', 'creators.wallet', 'listings.creator')
    .leftJoin('chain.agent_statistics as statistics', 'statistics.listing', 'listings.listing')
    .select([
      'listings.listing',
      'listings.creator',
      'listings.price',
      'listings.status',
      'listings.tag_mask',
      'listings.metadata_hash',
      'listings.listed_at',
      'creators.verified',
      'statistics.total_executions',
      'statistics.successful_executions',
      'statistics.success_rate',
      'statistics.avg_execution_time_ms',
    ])
    .where('listings.listing', 'in', textsOf(views, listings))
    .execute();
}

/** Descriptions of the available documents, by hash. A document that waited for its listing becomes permanent. */
async function describe(
  deps: PendingDeps,
  rows: readonly Listing[],
  known: ReadonlyMap<string, AgentText>,
): Promise<Map<string, Description>> {
  const found = new Map<string, Description>();
  for (const { metadata_hash, description } of known.values()) {
    if (description !== null) found.set(metadata_hash, JSON.parse(description));
  }
  const read = async (wanted: string[]) => {
    if (wanted.length === 0) return;
    const documents = await deps.views
      .selectFrom('metadata')
      .select(['metadata_hash', 'document'])
      .where('metadata_hash', 'in', textsOf(deps.views, wanted))
      .execute();
    for (const row of documents) found.set(row.metadata_hash, toDescription(row.document));
  };
  const missing = () => rows.map((row) => row.metadata_hash).filter((hash) => !found.has(hash));
  await read([...new Set(missing())]);
  const waiting = await readListedPending(deps.views, [...new Set(missing())]);
  if (waiting.length > 0) {
    await promotePending(deps, waiting);
    await read(waiting);
  }
  return found;
}

function toDescription(document: string): Description {
  const { name, tagline, display_name, custom_tags } = JSON.parse(document) as AgentMetadata;
  return { name, tagline, display_name, custom_tags };
}

/**
 * The listings that the index has, in memory, followed by the revisions that the indexer gives to what it changes. Each
 * answer first asks for the newest one, which is one cheap statement.
 */
import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { AgentMetadata } from '../../../sdk/wire/metadata.ts';
import type { AgentHealth } from '../../../sdk/wire/wire.ts';
import { readListedPending } from '../../ledger/metadata.ts';
import type { LedgerDatabase } from '../../ledger/tables.ts';
import { type PendingDeps, promotePending } from '../pendingMetadata.ts';
import { createModel, type Description, type ListedAgent, type Model } from './model.ts';
import { createTurns } from './turns.ts';

/** Listings read at once: their documents are at most 2 MiB together. */
const SLICE = 32;
/** Changes above which all is made anew, in less time than each is put in its place. */
const MANY = 4_000;
/** How far the clock of another relay may be from ours, milliseconds. */
const CLOCKS_DIFFER_MS = 120_000;

/** Of answers that are kept, all together. */
const MAX_ANSWERS_BYTES = 16 * 1024 * 1024;
const ANSWER_MS = 1_000;
/** Agents of a page on which most requests are, several times over. */
const MAX_HEALTHS = 2_000;

export type ListedAgents = ReturnType<typeof createListedAgents>;

/** Reads nothing before the first `current`. */
export function createListedAgents(deps: PendingDeps) {
  const { views } = deps;
  let model: Model | null = null;
  let revision = -1n;
  /** Counts what has changed here. */
  let version = 0;
  /** Listings by the hash of the document that they wait for. */
  let missing = new Map<string, Set<string>>();
  let following: Promise<Model> | null = null;
  let next: Promise<Model> | null = null;

  async function readRevision(): Promise<bigint> {
    const row = await views.selectFrom('chain.catalogue_revision').select('revision').executeTakeFirst();
    return row?.revision ?? 0n;
  }

  async function load(): Promise<Model> {
    const from = await readRevision();
    const made = createModel();
    const waiting = new Map<string, Set<string>>();
    const pause = createTurns();
    for (let after = ''; ; ) {
      const slice = await listingRows(views)
        .where('listings.listing', '>', after)
        .orderBy('listings.listing')
        .limit(SLICE)
        .execute();
      const listings = slice.map((row) => row.listing);
      await take(made, waiting, listings, slice);
      await pause();
      const last = slice.at(-1);
      if (!last || slice.length < SLICE) break;
      after = last.listing;
    }
    await made.sort();
    model = made;
    missing = waiting;
    revision = from;
    version += 1;
    return made;
  }

  /** Puts listings as their rows are now, with the documents that are here. */
  async function take(into: Model, waiting: Map<string, Set<string>>, listings: string[], found: Row[]): Promise<void> {
    const rows = new Map(found.map((row) => [row.listing, row]));
    const described = new Map<string, Description>();
    for (const row of rows.values()) {
      const known = into.get(row.listing);
      if (known?.description && known.metadataHash === row.metadata_hash) {
        described.set(row.metadata_hash, known.description);
      }
    }
    const wanted = [...new Set([...rows.values()].map((row) => row.metadata_hash))].filter(
      (hash) => !described.has(hash),
    );
    for (const [hash, description] of await readDescriptions(deps, wanted)) described.set(hash, description);
    for (const listing of listings) {
      const row = rows.get(listing);
      const description = row ? (described.get(row.metadata_hash) ?? null) : null;
      into.put(listing, row ? toListed(row, description) : null);
      if (row && !description) {
        const others = waiting.get(row.metadata_hash);
        if (others) others.add(listing);
        else waiting.set(row.metadata_hash, new Set([listing]));
      }
    }
  }

  /** What the index has changed since; null where all is to be made anew. */
  async function readChanged(now: bigint): Promise<string[] | null> {
    if (now === revision) return [];
    if (now < revision) return null;
    const rows = await views
      .selectFrom('chain.changed_agents')
      .select('listing')
      .where('revision', '>', revision)
      .orderBy('revision')
      .orderBy('listing')
      .limit(MANY + 1)
      .execute();
    return rows.length > MANY ? null : rows.map((row) => row.listing);
  }

  /** Listings whose document has come, here or at another relay. */
  async function readArrived(): Promise<string[]> {
    if (missing.size === 0) return [];
    const rows = await views
      .selectFrom('metadata')
      .select('metadata_hash')
      .where('received_ms', '>=', BigInt(deps.now() - CLOCKS_DIFFER_MS))
      .execute();
    const arrived: string[] = [];
    for (const { metadata_hash: hash } of rows) {
      arrived.push(...(missing.get(hash) ?? []));
      missing.delete(hash);
    }
    return arrived;
  }

  async function follow(): Promise<Model> {
    if (!model) return load();
    const now = await readRevision();
    const changed = await readChanged(now);
    if (changed === null) return load();
    const listings = [...new Set([...changed, ...(await readArrived())])];
    const pause = createTurns();
    for (let at = 0; at < listings.length; at += SLICE) {
      const some = listings.slice(at, at + SLICE);
      await take(model, missing, some, await listingRows(views).where('listings.listing', 'in', some).execute());
      version += 1;
      await pause();
    }
    revision = now;
    return model;
  }

  function start(): Promise<Model> {
    next = null;
    following = follow().finally(() => {
      following = null;
    });
    return following;
  }

  return {
    /** All as it is by now. Who asks while somebody else's answer is on its way takes the next one. */
    current(): Promise<Model> {
      if (!following) return start();
      next ??= following.then(
        () => start(),
        () => start(),
      );
      return next;
    },
    /** Pages as they were answered, by version and query; for a moment, because health does not follow from revisions. */
    answers: new LRUCache<string, Buffer>({
      maxSize: MAX_ANSWERS_BYTES,
      sizeCalculation: (body, name) => body.length + name.length,
      ttl: ANSWER_MS,
    }),
    /** What lists show of an agent's health, as old as an answer may be: on every page it would be a query for each agent. */
    healths: new LRUCache<string, AgentHealth>({ max: MAX_HEALTHS, ttl: ANSWER_MS, noUpdateTTL: true }),
    /** Another number after every change. */
    version: (): number => version,
  };
}

type Views = Kysely<LedgerDatabase>;

/** What executions make of a listing. */
interface Figures {
  total_executions: bigint | null;
  success_rate: number | null;
  avg_execution_time_ms: bigint | null;
}

interface Row extends Figures {
  listing: string;
  creator: string;
  price: bigint;
  status: ListedAgent['status'];
  tag_mask: bigint;
  metadata_hash: string;
  listed_at: bigint;
  verified: bigint | null;
}

function listingRows(views: Views) {
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
      'statistics.success_rate',
      'statistics.avg_execution_time_ms',
    ]);
}

/** `description` is null while the document is not here. */
export function toListed(row: Row, description: Description | null): ListedAgent {
  return {
    listing: row.listing,
    creator: row.creator,
    verified: row.verified === 1n,
    status: row.status,
    price: row.price,
    tagMask: Number(row.tag_mask),
    listedAt: Number(row.listed_at),
    totalExecutions: Number(row.total_executions ?? 0n),
    successRate: row.success_rate ?? 0,
    averageMs: Number(row.avg_execution_time_ms ?? 0n),
    metadataHash: row.metadata_hash,
    description,
  };
}

/** Of those documents that are here; what had waited for its listing stays from now on. */
async function readDescriptions(deps: PendingDeps, hashes: string[]): Promise<Map<string, Description>> {
  const found = new Map<string, Description>();
  const read = async (wanted: string[]) => {
    if (wanted.length === 0) return;
    const rows = await deps.views
      .selectFrom('metadata')
      .select(['metadata_hash', 'document'])
      .where('metadata_hash', 'in', wanted)
      .execute();
    for (const row of rows) found.set(row.metadata_hash, toDescription(row.document));
  };
  await read(hashes);
  const absent = hashes.filter((hash) => !found.has(hash));
  const waiting = await readListedPending(deps.views, absent);
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

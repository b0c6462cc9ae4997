/**
 * Documents that wait for their listing, in a separate table. Once its listing exists, a document moves to `metadata`
 * when agents are next listed, or at the latest instead of being dropped. Each step is one statement, so several relays
 * may run it at once. The next run corrects a crash between two steps.
 */
import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import {
  dropMetadata,
  dropPending,
  insertMetadata,
  insertPending,
  isNeeded,
  movePending,
  type Poster,
  readListedPending,
  readMetadataFrom,
  readSurplusPending,
} from '../ledger/metadata.ts';
import type { LedgerDatabase, LedgerTables } from '../ledger/tables.ts';

export interface PendingDeps {
  /** ledger.db for writing. */
  ledger: Kysely<LedgerTables>;
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  /** Unix milliseconds. */
  now(): number;
  log: Logger;
}

/** How long a document waits. */
const PENDING_MS = 24 * 60 * 60 * 1000;
/** Per wallet or network: a creator needs one, for the minute between test and listing. */
const MAX_OF_POSTER = 20;
/** For all posts without a session together; the oldest are dropped. At 64 KiB each, 32 MiB. */
const MAX_OF_NETWORKS = 500;
/** For all wallets together that have not paid and list nothing, because creating one is free. At most 320 MiB. */
const MAX_OF_STRANGERS = 5_000;
/** Documents that each post checks, to drop them if nothing needs them. */
const SWEPT = 20;

export interface PostedMetadata extends Poster {
  metadataHash: string;
  document: string;
}

/** Keeps a document that has passed every rule: permanently if a listing or an unfinished execution needs it. */
export async function keepMetadata(deps: PendingDeps, posted: PostedMetadata): Promise<void> {
  const { metadataHash, document, wallet, network, isKnown } = posted;
  const receivedMs = deps.now();
  if (await isNeeded(deps.views, metadataHash))
    await insertMetadata(deps.ledger, { metadataHash, document, receivedMs });
  else {
    await insertPending(deps.ledger, { metadataHash, wallet, network, isKnown, document, receivedMs });
  }
  await makeRoom(deps, { wallet, network });
  await sweepMetadata(deps);
}

/** Moves documents to `metadata`, the source of lists, if a listing carries their hash. */
export async function promotePending({ ledger, views }: PendingDeps, hashes: string[]): Promise<void> {
  const listed = await readListedPending(views, hashes);
  if (listed.length > 0) await movePending(ledger, listed);
}

/**
 * Drops documents that waited too long, and the oldest beyond each limit. Because of the limit per poster, a heavy
 * poster loses only its own documents.
 */
async function makeRoom(deps: PendingDeps, poster: Pick<Poster, 'wallet' | 'network'>): Promise<void> {
  const limits = { own: MAX_OF_POSTER, ofNetworks: MAX_OF_NETWORKS, ofStrangers: MAX_OF_STRANGERS };
  const surplus = await readSurplusPending(deps.views, poster, deps.now() - PENDING_MS, limits, SWEPT);
  if (surplus.length === 0) return;
  // A document whose listing exists by now is moved instead of dropped.
  await promotePending(deps, [...new Set(surplus.map((row) => row.metadata_hash))]);
  const dropped = await dropPending(deps.ledger, surplus);
  if (dropped > 0) deps.log.info({ dropped }, 'dropped metadata that no listing uses');
}

/**
 * Drops documents that no listing or execution needs any more. Each post checks a few at a random place, which keeps
 * pace with posts. No request ever checks all.
 */
async function sweepMetadata(deps: PendingDeps): Promise<void> {
  const oldest = BigInt(deps.now() - PENDING_MS);
  const rows = await readMetadataFrom(deps.views, randomBytes(32).toString('hex'), SWEPT);
  if (rows.length < SWEPT) rows.push(...(await readMetadataFrom(deps.views, '', SWEPT)));
  const old = new Set(rows.filter((row) => row.received_ms < oldest).map((row) => row.metadata_hash));
  const unneeded: string[] = [];
  for (const hash of old) if (!(await isNeeded(deps.views, hash))) unneeded.push(hash);
  if (unneeded.length > 0) await dropMetadata(deps.ledger, unneeded);
}

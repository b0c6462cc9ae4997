/**
 * Documents that wait for their listing, in a table of their own: what a listing carries moves to `metadata` when agents are
 * next listed after the listing came, and before it would make room. Each step is one statement, so that several relays may take it at once and
 * a crash between two leaves nothing that the next does not mend.
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
/** How many wait for one wallet or network: a creator needs one, for the minute between test and listing. */
const MAX_OF_POSTER = 20;
/** How many wait for all networks, that is those that nobody's session posted; the oldest make room. At 64 KiB each, 32 MiB. */
const MAX_OF_NETWORKS = 500;
/** How many wait for all wallets, which cost nothing to make; the oldest make room. 320 MiB at the very worst. */
const MAX_OF_WALLETS = 5_000;
/** Documents that each post looks at, whether anything still needs them. */
const SWEPT = 20;

export interface PostedMetadata extends Poster {
  metadataHash: string;
  document: string;
}

/** Keeps a document that has passed every rule: for good where a listing or an unfinished execution needs it. */
export async function keepMetadata(deps: PendingDeps, posted: PostedMetadata): Promise<void> {
  const { metadataHash, document, wallet, network } = posted;
  const receivedMs = deps.now();
  if (await isNeeded(deps.views, metadataHash))
    await insertMetadata(deps.ledger, { metadataHash, document, receivedMs });
  else await insertPending(deps.ledger, { metadataHash, wallet, network, document, receivedMs });
  await makeRoom(deps, { wallet, network });
  await sweepMetadata(deps);
}

/** Moves those of these that a listing carries by now to `metadata`, which lists are made from. */
export async function promotePending({ ledger, views }: PendingDeps, hashes: string[]): Promise<void> {
  const listed = await readListedPending(views, hashes);
  if (listed.length > 0) await movePending(ledger, listed);
}

/** Drops what has waited too long, and the oldest of too many: of this poster first, so that who posts many alone loses them. */
async function makeRoom(deps: PendingDeps, poster: Poster): Promise<void> {
  const limits = { own: MAX_OF_POSTER, ofNetworks: MAX_OF_NETWORKS, ofWallets: MAX_OF_WALLETS };
  const surplus = await readSurplusPending(deps.views, poster, deps.now() - PENDING_MS, limits, SWEPT);
  if (surplus.length === 0) return;
  // What has found its listing since is moved, because it is not to be dropped.
  await promotePending(deps, [...new Set(surplus.map((row) => row.metadata_hash))]);
  const dropped = await dropPending(deps.ledger, surplus);
  if (dropped > 0) deps.log.info({ dropped }, 'metadata that no listing carries was dropped');
}

/**
 * Drops documents that a listing or execution needed once. A few at a random place at each post keep pace with what posts
 * can leave behind, and no request ever looks at all.
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

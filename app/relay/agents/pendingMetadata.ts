/**
 * Stores documents, and drops those that nothing needs. A document that has no listing yet waits for it for a day; its
 * poster is noted meanwhile. Each step is one statement, so several relays may run it at once. The next run corrects a
 * crash between two steps.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import {
  dropDocuments,
  dropPending,
  insertDocument,
  insertPending,
  isNeeded,
  isPending,
  type Poster,
  readDocumentsFrom,
  readSurplusPending,
} from '../ledger/metadata.ts';
import type { Databases } from '../ledger/tables.ts';
import type { Now } from '../waiting.ts';
import { describe } from './words.ts';

export interface PendingDeps extends Databases, Now {
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

interface PostedMetadata extends Poster {
  metadataHash: string;
  document: string;
}

/** Keeps a document that has passed every rule: permanently if a listing or an unfinished execution needs it. */
export async function keepMetadata(deps: PendingDeps, posted: PostedMetadata): Promise<void> {
  const { metadataHash, document, wallet, network, isKnown } = posted;
  const receivedMs = deps.now();
  // First, so that a document whose poster was dropped meanwhile is still dropped later.
  if (!(await isNeeded(deps.views, metadataHash)))
    await insertPending(deps.ledger, { metadataHash, wallet, network, isKnown, receivedMs });
  await insertDocument(deps.ledger, { metadata_hash: metadataHash, document, ...describe(document), receivedMs });
  await makeRoom(deps, { wallet, network });
  await sweepMetadata(deps);
}

/**
 * Drops documents that waited too long, and the oldest beyond each limit. Because of the limit per poster, a heavy
 * poster loses only its own documents.
 */
async function makeRoom(deps: PendingDeps, poster: Pick<Poster, 'wallet' | 'network'>): Promise<void> {
  const limits = { own: MAX_OF_POSTER, ofNetworks: MAX_OF_NETWORKS, ofStrangers: MAX_OF_STRANGERS };
  const surplus = await readSurplusPending(deps.views, poster, deps.now() - PENDING_MS, limits, SWEPT);
  if (surplus.length === 0) return;
  await dropPending(deps.ledger, surplus);
  await dropUnneeded(deps, new Set(surplus.map((row) => row.metadata_hash)));
}

/**
 * Drops documents that no listing or execution needs any more. Each post checks a few at a random place, which keeps
 * pace with posts. No request ever checks all.
 */
async function sweepMetadata(deps: PendingDeps): Promise<void> {
  const oldest = BigInt(deps.now() - PENDING_MS);
  const rows = await readDocumentsFrom(deps.views, randomBytes(32).toString('hex'), SWEPT);
  if (rows.length < SWEPT) rows.push(...(await readDocumentsFrom(deps.views, '', SWEPT)));
  const old = rows.filter((row) => row.received_ms < oldest).map((row) => row.metadata_hash);
  await dropUnneeded(deps, new Set(old));
}

/** Drops these documents, except those with a listing, an unfinished execution or a poster who still waits. */
async function dropUnneeded({ ledger, views, log }: PendingDeps, hashes: ReadonlySet<string>): Promise<void> {
  const unneeded: string[] = [];
  for (const hash of hashes) if (!(await isNeeded(views, hash)) && !(await isPending(views, hash))) unneeded.push(hash);
  if (unneeded.length === 0) return;
  const dropped = await dropDocuments(ledger, unneeded);
  if (dropped > 0) log.info({ dropped }, 'dropped metadata that no listing uses');
}

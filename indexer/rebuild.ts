/**
 * Builds the tables again from the chain, in a file beside the present one, and puts them in its place while others read it and
 * an indexer follows the chain: the pages are copied into the file in one SQLite transaction, so that every reader sees all of
 * the old or all of the new, and nobody has to open anything again.
 */
import { rmSync } from 'node:fs';
import type { Logger } from 'pino';
import { takeLock } from '../app/database/lock.ts';
import type { OpenedDatabase } from '../app/database/open.ts';
import type { SnapshotNeeded } from './apply.ts';
import { claimChain } from './identity.ts';
import { type IngestDeps, pass } from './ingest.ts';
import { openIndex } from './open.ts';
import { RESCAN_SLOTS, reconcile } from './reconcile.ts';
import type { IndexDatabase } from './tables.ts';

export interface RebuildOptions {
  /** Of index.db. */
  path: string;
  ingest: Omit<IngestDeps, 'db' | 'onGap'>;
  log: Logger;
  /** Told how far it is. */
  onProgress?(slot: bigint): void;
}

/**
 * Readers follow the catalogue by revisions, which may only grow; the indexer may count on while the file is being replaced.
 * More than it can in that time.
 */
const REVISION_LEAP = 1_000_000n;

/**
 * Builds and replaces. A build that was broken off goes on where it was. Throws, and leaves the present tables alone, where the
 * node's history is not whole.
 */
export async function rebuild(options: RebuildOptions): Promise<void> {
  const path = `${options.path}.new`;
  const lock = takeLock(`${path}.lock`);
  try {
    const opened = await openForChain(path, options.ingest);
    try {
      await fill(options, opened);
      await leapRevision(options.path, opened);
      await opened.sqlite.backup(options.path);
    } finally {
      opened.close();
    }
    removeFile(path);
  } finally {
    lock.release();
  }
}

/** The file of a build that was broken off, unless it is of another chain. */
async function openForChain(path: string, { connection, programId }: Omit<IngestDeps, 'db' | 'onGap'>) {
  const chain = { genesisHash: await connection.getGenesisHash(), programId: programId.toBase58() };
  const opened = openIndex(path);
  if ((await claimChain(opened.db, chain)) === null) return opened;
  opened.close();
  removeFile(path);
  const fresh = openIndex(path);
  await claimChain(fresh.db, chain);
  return fresh;
}

function removeFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

async function fill(options: RebuildOptions, { db }: OpenedDatabase<IndexDatabase>): Promise<void> {
  let gap: SnapshotNeeded | null = null;
  const deps: IngestDeps = {
    ...options.ingest,
    db,
    onGap(evidence) {
      gap ??= evidence;
    },
  };
  // The first pass may take hours; the second takes what came meanwhile.
  options.onProgress?.(await pass(deps));
  const head = await pass(deps);
  // The last slots once more before they replace the others.
  if (await reconcile(deps, head > RESCAN_SLOTS ? head - RESCAN_SLOTS : 0n)) await pass(deps);
  if (gap !== null) {
    throw new Error(
      `the node's history is not whole (${(gap as SnapshotNeeded).message}): the tables stay as they are`,
    );
  }
}

async function leapRevision(path: string, built: OpenedDatabase<IndexDatabase>): Promise<void> {
  const present = openIndex(path);
  try {
    const known = await present.db.selectFrom('catalogue_revision').select('revision').executeTakeFirstOrThrow();
    const revision = known.revision + REVISION_LEAP;
    await built.db.updateTable('changed_agents').set({ revision }).execute();
    await built.db.updateTable('catalogue_revision').set({ revision }).execute();
  } finally {
    present.close();
  }
}

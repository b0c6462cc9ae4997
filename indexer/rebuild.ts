/**
 * Builds the tables again from the chain, beside the present ones, and puts them in their place while others read them and an
 * indexer follows the chain (beside.ts).
 */
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { SnapshotNeeded } from './apply.ts';
import { type Beside, openBeside } from './beside.ts';
import { claimChain } from './identity.ts';
import { type IngestDeps, pass } from './ingest.ts';
import { RESCAN_SLOTS, reconcile } from './reconcile.ts';
import type { IndexDatabase } from './tables.ts';

type Source = Omit<IngestDeps, 'db' | 'onGap'>;

export interface RebuildOptions {
  /** Of index.db, or the URL of a PostgreSQL. */
  path: string;
  ingest: Source;
  log: Logger;
  /** Told how far it is. */
  onProgress?(slot: bigint): void;
  /** Told which sessions of PostgreSQL hold up the end: their transactions read the tables that are replaced. */
  onWaiting?(sessions: string): void;
}

/**
 * Builds and replaces. A build that was broken off goes on where it was. Throws, and leaves the present tables alone, where the
 * node's history is not whole.
 */
export async function rebuild(options: RebuildOptions): Promise<void> {
  const beside = await openBeside(options.path);
  try {
    await requireChain(beside, options.ingest);
    await fill(options, beside.db());
    await beside.replace((sessions) => options.onWaiting?.(sessions));
  } finally {
    await beside.close();
  }
}

/** What is left of a build that was broken off may be of another chain. */
async function requireChain(beside: Beside, { connection, programId }: Source): Promise<void> {
  const chain = { genesisHash: await connection.getGenesisHash(), programId: programId.toBase58() };
  if ((await claimChain(beside.db(), chain)) === null) return;
  await beside.clear();
  await claimChain(beside.db(), chain);
}

async function fill(options: RebuildOptions, db: Kysely<IndexDatabase>): Promise<void> {
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

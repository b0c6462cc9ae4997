/**
 * Builds the tables again from the chain, beside the present ones, and then replaces those. An indexer and readers may
 * use the index meanwhile (beside.ts).
 */
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { readLastRestart } from '../app/solana/lastRestart.ts';
import type { SnapshotNeeded } from './apply.ts';
import { type Beside, openBeside } from './beside.ts';
import { claimChain } from './identity.ts';
import { type IngestDeps, pass } from './ingest.ts';
import { applyMissed, RESCAN_SLOTS } from './late.ts';
import { describePruned, readPruned, readRestartSlot } from './read.ts';
import type { IndexDatabase } from './tables.ts';

type Source = Omit<IngestDeps, 'db' | 'onGap' | 'onPruned'>;

export interface RebuildOptions {
  /** Path of index.db, or the URL of a PostgreSQL. */
  path: string;
  ingest: Source;
  log: Logger;
  /** Called with the slot reached. */
  onProgress?(slot: bigint): void;
  /** Called with the PostgreSQL sessions that delay the replacement: their transactions read the present tables. */
  onWaiting?(sessions: string): void;
}

/**
 * Builds and replaces the tables. Continues an interrupted build. If the node's history is incomplete, throws and
 * leaves the present tables alone.
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

/** An interrupted build may be of another chain, or from before a restart of the cluster. */
async function requireChain(beside: Beside, { connection, programId }: Source): Promise<void> {
  const restartSlot = await readLastRestart(connection);
  const chain = { genesisHash: await connection.getGenesisHash(), programId: programId.toBase58(), restartSlot };
  const refusal = await claimChain(beside.db(), chain);
  if (refusal === null && (await readRestartSlot(beside.db())) === restartSlot) return;
  await beside.clear();
  await claimChain(beside.db(), chain);
}

async function fill(options: RebuildOptions, db: Kysely<IndexDatabase>): Promise<void> {
  let gap: SnapshotNeeded | null = null;
  const deps: IngestDeps = {
    ...options.ingest,
    db,
    onUnreadable: (signature, reason) =>
      options.log.warn({ signature }, `${reason}; the index has a gap until it can be read`),
    onGap(evidence) {
      gap ??= evidence;
    },
  };
  // The first pass may take hours; the second applies what arrived meanwhile.
  options.onProgress?.(await pass(deps));
  const head = await pass(deps);
  // List the last slots once more before the replacement.
  await applyMissed(deps, head > RESCAN_SLOTS ? head - RESCAN_SLOTS : 0n, head);
  const [pruned] = await readPruned(db);
  const lack = pruned ? describePruned(pruned) : (gap as SnapshotNeeded | null)?.message;
  if (lack)
    throw new Error(
      `the node's history is incomplete (${lack}), so the index was not rebuilt; use a node with the whole history`,
    );
}

/**
 * Builds the tables again from the chain, beside the present ones, and then replaces those. An indexer and readers may
 * use the index meanwhile (beside.ts).
 */
import type { Logger } from 'pino';
import { readLastRestart } from '../../app/solana/lastRestart.ts';
import { claimChain } from '../apply/identity.ts';
import { reportProgress } from '../chain/backfill.ts';
import { type IngestDeps, pass } from '../chain/ingest.ts';
import { Vanished } from '../chain/transactions.ts';
import { describePruned, readPruned, readRestartSlot } from '../queries/read.ts';
import { type Beside, openBeside } from './beside.ts';
import { applyMissed, RESCAN_SLOTS } from './late.ts';

type Source = Omit<IngestDeps, 'db' | 'onGap' | 'onProgress' | 'onPruned'>;

interface RebuildOptions {
  /** Path of index.db, or the URL of a PostgreSQL. */
  path: string;
  ingest: Source;
  log: Logger;
  /** Called with the PostgreSQL sessions that delay the replacement: their transactions read the present tables. */
  onWaiting?(sessions: string): void;
  /**
   * Accepts a node that has forgotten old slots: their state comes from accounts, and `pruned_slots` names them. For
   * present tables that show what the chain has lost, which are worse.
   */
  acceptPruned?: boolean;
}

/**
 * Builds and replaces the tables. Continues an interrupted build. If the node's history is incomplete, throws, leaves
 * the present tables alone, and begins again the next time.
 */
export async function rebuild(options: RebuildOptions): Promise<void> {
  const beside = await openBeside(options.path);
  try {
    await requireChain(beside, options.ingest);
    await fill(options, beside);
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

async function fill(options: RebuildOptions, beside: Beside): Promise<void> {
  let hole = null as string | null;
  const db = beside.db();
  const deps: IngestDeps = {
    ...options.ingest,
    db,
    onProgress: reportProgress(options.log),
    onUnreadable: (signature, reason) =>
      options.log.warn({ signature }, `${reason}; the index has a gap until it can be read`),
    onPruned: (slots) => options.log.warn(`${describePruned(slots)}; every account is read instead`),
    onGap(evidence) {
      hole ??= evidence.message;
    },
  };
  try {
    // The first pass may take hours; the second applies what arrived meanwhile.
    await pass(deps);
    const head = await pass(deps);
    // List the last slots once more before the replacement.
    const { unread } = await applyMissed(deps, head > RESCAN_SLOTS ? head - RESCAN_SLOTS : 0n, head);
    if (unread) throw new Vanished(unread);
    // Readers of the present tables may know these events.
    await db.updateTable('events').set({ applied_slot: null }).where('applied_slot', 'is not', null).execute();
    const [pruned] = await readPruned(db);
    // Events may be about accounts that were made in forgotten slots, and closed since.
    if (pruned && options.acceptPruned) hole = null;
    else if (pruned) hole = describePruned(pruned);
  } catch (error) {
    // Only these tables would remember the hole, and they look complete.
    if (hole !== null) await beside.clear();
    throw error;
  }
  if (hole === null) return;
  await beside.clear();
  throw new Error(
    `the node's history is incomplete (${hole}), so the index was not rebuilt; use a node with the whole history`,
  );
}

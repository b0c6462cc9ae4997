/**
 * The indexer as a component to start and stop. It opens the index, checks that it belongs to the chain, and follows
 * the program (follow.ts). It retries temporary failures forever. It stops at a transaction that cannot be applied.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import type { OpenDatabase } from '../app/database/open.ts';
import { messageOf } from '../app/database/temporary.ts';
import { PROGRAM_ID } from '../app/sdk/program/program.ts';
import type { History } from '../app/solana/helius.ts';
import { readLastRestart } from '../app/solana/lastRestart.ts';
import { connectForReading } from '../app/solana/rpc.ts';
import { subscribe } from '../app/solana/subscription.ts';
import { claimChain } from './apply/identity.ts';
import type { IngestDeps } from './chain/ingest.ts';
import { createNotices, type Notices } from './chain/notices.ts';
import { follow, type Looks } from './follow.ts';
import { createPatience, type Pauses } from './patience.ts';
import { openAlone, placeName } from './queries/open.ts';
import { type IndexStatus, readStatus } from './queries/read.ts';
import type { IndexDatabase } from './queries/tables.ts';
import { createKeeper, type Keeper } from './repair/keeper.ts';
import { rebuild } from './repair/rebuild.ts';

/** Pause between looks while somebody waits for a slot. */
const ASKING_MS = 40;

export interface IndexerOptions {
  rpcUrl: string;
  wsUrl: string;
  /** Path of index.db, created if missing, or the URL of a PostgreSQL. */
  path: string;
  log: Logger;
  /** Replaces the program address of app/sdk. */
  programId?: PublicKey;
  /** Milliseconds between looks without a notification. */
  pollMs?: number;
  /** Milliseconds between tests of the WebSocket. A dead one is noticed after two to three intervals. */
  heartbeatMs?: number;
  /**
   * Milliseconds between second lists of the last slots, which find transactions that the node left out. A known gap
   * starts one at once.
   */
  rescanMs?: number;
  /** Milliseconds between comparisons of rows with their accounts. */
  repairMs?: number;
  /** Signatures per request. */
  signaturePage?: number;
  /** Source that fills an empty index in the order of the chain. By default, the node's list of signatures. */
  history?: History;
  /**
   * Called when the indexer has stopped itself: a transaction cannot be applied, or another indexer may hold the index.
   */
  onFailure?(error: Error): void;
}

interface IndexerStatus extends IndexStatus {
  state: 'idle' | 'running' | 'failed' | 'stopped';
  /** True while notifications arrive. Without them the indexer only polls. */
  subscribed: boolean;
  /** The last error; null once a pass has succeeded. If the indexer has failed, it names the transaction. */
  error: string | null;
}

export interface Indexer {
  /**
   * Opens the database, checks that it belongs to this chain, and continues in the background. Waits for the node if
   * necessary. Throws if another indexer holds the file, or if the index is of another chain. With PostgreSQL it waits
   * until the other indexer ends.
   */
  start(): Promise<void>;
  /** Stops before or after the current batch is written, never in between. */
  stop(): Promise<void>;
  status(): Promise<IndexerStatus>;
  /** Resolves when the tables hold everything final before this call, up to this slot. Throws at the timeout. */
  caughtUpTo(slot: bigint | number, timeoutMs: number): Promise<void>;
}

/** Waits for the node. Throws if the node is on another chain than the index. */
async function requireSameChain(
  { db }: OpenDatabase<IndexDatabase>,
  connection: Connection,
  programId: PublicKey,
  patience: Pauses,
): Promise<void> {
  const refusal = await patience.untilDone('reaching the node', async () => {
    const [genesisHash, restartSlot] = [await connection.getGenesisHash(), await readLastRestart(connection)];
    return claimChain(db, { genesisHash, programId: programId.toBase58(), restartSlot });
  });
  if (refusal) throw new Error(refusal);
}

/** Opens the database once no other indexer holds it; null if `stop` came first. */
function openOrStandBy({ path, log }: IndexerOptions, stop: AbortSignal, onLost: (error: Error) => void) {
  return openAlone(path, {
    stop,
    onStandby: () => log.info('another indexer keeps the index; this one stands by'),
    onAway: (error) => log.warn({ error: error.message }, 'the database is out of reach; waiting for it'),
    onLost,
  });
}

function keeperOf(
  options: IndexerOptions,
  db: IngestDeps['db'],
  of: Pick<IngestDeps, 'connection' | 'programId' | 'notices'>,
): Keeper {
  const { path, log, rescanMs, repairMs, signaturePage = 1_000, history } = options;
  const source = { ...of, signaturePage, ...(history && { history }) };
  return createKeeper({
    ingest: { ...source, db },
    log,
    rebuild: () => rebuild({ path, ingest: source, log, acceptPruned: true }),
    rescanMs,
    repairMs,
  });
}

/** Hears of the program's transactions as they happen. */
function listen(
  { wsUrl, heartbeatMs, programId = PROGRAM_ID }: IndexerOptions,
  {
    notices,
    patience,
    ...told
  }: { notices: Notices; patience: Pauses; onSubscribed(): void; onLost(reason: string): void },
) {
  return subscribe({
    wsUrl,
    address: programId.toBase58(),
    ...(heartbeatMs && { heartbeatMs }),
    onLogs: (notice) => notices.add(notice) && patience.request(),
    ...told,
  });
}

const NOTHING_YET: IndexStatus = { cursor: null, slot: null, checkedAt: null };

export function createIndexer(options: IndexerOptions): Indexer {
  const { log, programId = PROGRAM_ID } = options;
  const notices = createNotices();
  const looks: Looks = { begun: 0, ended: 0, head: 0n };
  const stopping = new AbortController();
  const patience = createPatience(stopping.signal, log, placeName(options.path));
  const connection = connectForReading(options.rpcUrl, stopping.signal);
  let opened: OpenDatabase<IndexDatabase> | null = null;
  let running: Promise<void> | null = null;
  let keeper: Keeper | null = null;
  let state: IndexerStatus['state'] = 'idle';
  let subscribed = false;
  /** Why the indexer stopped itself. */
  let failure: string | null = null;
  const lastError = () => failure ?? patience.error();

  function onSubscribed(): void {
    subscribed = true;
    log.info('subscribed to the program');
    keeper?.hurry();
    patience.request();
  }

  function onLost(reason: string): void {
    if (subscribed) log.warn({ reason }, 'the WebSocket connection was lost; reconnecting');
    subscribed = false;
  }

  /** Runs once: `stop` may come while a failed start is closing the database. */
  async function closeOpened(): Promise<void> {
    const closing = opened;
    opened = null;
    await closing?.close();
  }

  function fail(cause: Error & { signature?: string }): void {
    state = 'failed';
    failure = messageOf(cause, placeName(options.path));
    log.error({ error: failure, signature: cause.signature }, 'the indexer has stopped');
    options.onFailure?.(cause);
  }

  return {
    async start() {
      if (state !== 'idle') throw new Error('an indexer can be started only once');
      opened = await openOrStandBy(options, stopping.signal, (error) => {
        fail(error);
        stopping.abort(error);
      });
      if (!opened) {
        state = 'stopped';
        return;
      }
      const { db } = opened;
      try {
        await requireSameChain(opened, connection, programId, patience);
      } catch (cause) {
        await closeOpened();
        state = 'stopped';
        throw cause;
      }
      if (stopping.signal.aborted) return closeOpened();
      state = 'running';
      patience.request();
      keeper = keeperOf(options, db, { connection, programId, notices });
      const subscription = listen(options, { notices, patience, onSubscribed, onLost });
      running = follow({ keeper, notices, patience, looks, stopping: stopping.signal, log, pollMs: options.pollMs })
        .catch(fail)
        .finally(() => {
          subscription.close();
          subscribed = false;
        });
    },

    async stop() {
      stopping.abort(new Error('stopped'));
      await running;
      if (state !== 'failed') state = 'stopped';
      await closeOpened();
    },

    async status() {
      const index = opened ? await readStatus(opened.db) : NOTHING_YET;
      return { ...index, state, subscribed, error: lastError() };
    },

    async caughtUpTo(slot, timeoutMs) {
      const [since, endMs] = [looks.begun, performance.now() + timeoutMs];
      while (looks.ended <= since || looks.head < BigInt(slot)) {
        if (state === 'failed') throw new Error(failure ?? 'the indexer has failed');
        if (state === 'stopped') throw new Error('the indexer was stopped');
        if (performance.now() > endMs) {
          const why = lastError();
          throw new Error(`the index did not reach slot ${slot} in ${timeoutMs} ms${why ? `: ${why}` : ''}`);
        }
        patience.request();
        await sleep(ASKING_MS);
      }
    },
  };
}

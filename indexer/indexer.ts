/**
 * The indexer as a part that can be started and stopped: opens index.db, makes sure that it belongs to the chain, and
 * follows the program (follow.ts). What may be temporary is tried again for ever; a transaction that cannot be applied
 * stops it.
 */
import type { Connection, PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { type Lock, LockHeld, takeLock } from '../app/database/lock.ts';
import type { OpenedDatabase } from '../app/database/open.ts';
import { PROGRAM_ID } from '../app/sdk/program/program.ts';
import type { History } from '../app/solana/helius.ts';
import { connectForReading } from '../app/solana/rpc.ts';
import { subscribe } from '../app/solana/subscription.ts';
import type { ApplyError } from './apply.ts';
import { follow } from './follow.ts';
import { claimChain } from './identity.ts';
import { createKeeper, type Keeper } from './keeper.ts';
import { createNotices } from './notices.ts';
import { openIndex } from './open.ts';
import { createPatience, type Pauses } from './patience.ts';
import { type IndexStatus, readStatus } from './read.ts';
import { rebuild } from './rebuild.ts';
import type { IndexDatabase } from './tables.ts';
import { createWaiters } from './waiters.ts';

export interface IndexerOptions {
  rpcUrl: string;
  wsUrl: string;
  /** Path of index.db, which is made where it is missing. */
  path: string;
  log: Logger;
  /** Another program than the one of app/sdk. */
  programId?: PublicKey;
  /** How often to look without a hint. */
  pollMs?: number;
  /** How often the WebSocket is tested; a dead one is noticed after two to three times as long. */
  heartbeatMs?: number;
  /** How often the last slots are looked through for what the node left out; also done at once when that shows. */
  rescanMs?: number;
  /** How often the provisional slots are compared with what the node lists. */
  compareMs?: number;
  /** Signatures per request. */
  signaturePage?: number;
  /** Where an empty index is filled from, in order; without it, from the node. */
  history?: History;
  /** Told when the indexer has stopped because of a transaction that it cannot apply. */
  onFailure?(error: ApplyError): void;
}

export interface IndexerStatus extends IndexStatus {
  state: 'idle' | 'running' | 'failed' | 'stopped';
  /** Whether the node's notifications arrive; without them there are only the regular looks. */
  subscribed: boolean;
  /** The last error, null once a pass has succeeded. A failed indexer's names the transaction. */
  error: string | null;
}

export interface Indexer {
  /**
   * Opens the database and makes sure that it belongs to this chain, waiting for the node if need be; then goes on in the
   * background. Throws where another indexer keeps the database, or where it was made from another chain.
   */
  start(): Promise<void>;
  /** Ends once the page at hand is written, or before it is. */
  stop(): Promise<void>;
  status(): Promise<IndexerStatus>;
  /** Resolves when everything confirmed before this call, up to this slot, is in the tables. Throws at the timeout. */
  caughtUpTo(slot: bigint | number, timeoutMs: number): Promise<void>;
}

/** Two would write the same rows, and both move the cursor. Throws where another indexer has the file. */
function lockIndex(path: string): Lock {
  try {
    return takeLock(`${path}.lock`);
  } catch (cause) {
    if (!(cause instanceof LockHeld)) throw cause;
    throw new Error(`${path} is kept by another indexer${cause.holder}: stop that one, or choose another DATA_DIR`);
  }
}

/** Opens index.db for this process alone; closing it gives the lock up. Throws where another indexer has the file. */
function openLocked(path: string): OpenedDatabase<IndexDatabase> {
  const lock = lockIndex(path);
  try {
    const opened = openIndex(path);
    return {
      ...opened,
      close() {
        opened.close();
        lock.release();
      },
    };
  } catch (cause) {
    lock.release();
    throw cause;
  }
}

/** Waits for the node, and throws where it is of another chain than the index. */
async function requireSameChain(
  { db }: OpenedDatabase<IndexDatabase>,
  connection: Connection,
  programId: PublicKey,
  patience: Pauses,
): Promise<void> {
  const refusal = await patience.untilDone('reaching the node', async () => {
    const genesisHash = await connection.getGenesisHash();
    return claimChain(db, { genesisHash, programId: programId.toBase58() });
  });
  if (refusal) throw new Error(refusal);
}

const NOTHING_YET: IndexStatus = { cursor: null, slot: null, finalizedSlot: null, checkedAt: null };

export function createIndexer(options: IndexerOptions): Indexer {
  const { log, programId = PROGRAM_ID } = options;
  const notices = createNotices();
  const waiters = createWaiters();
  const stopping = new AbortController();
  const patience = createPatience(stopping.signal, log);
  const connection = connectForReading(options.rpcUrl, stopping.signal);
  let opened: OpenedDatabase<IndexDatabase> | null = null;
  let running: Promise<void> | null = null;
  let keeper: Keeper | null = null;
  let state: IndexerStatus['state'] = 'idle';
  let subscribed = false;
  /** Why it has stopped by itself. */
  let failure: string | null = null;
  const lastError = () => failure ?? patience.error();

  const listen = () =>
    subscribe({
      wsUrl: options.wsUrl,
      address: programId.toBase58(),
      ...(options.heartbeatMs && { heartbeatMs: options.heartbeatMs }),
      onLogs: (notice) => {
        if (notices.add(notice)) patience.request();
      },
      onSubscribed: () => {
        subscribed = true;
        log.info('subscribed to the program');
        keeper?.hurry();
        patience.request();
      },
      onLost: (reason) => {
        if (subscribed) log.warn({ reason }, 'the WebSocket was lost; reconnecting');
        subscribed = false;
      },
    });

  function fail(cause: ApplyError): void {
    state = 'failed';
    failure = cause instanceof Error ? cause.message : String(cause);
    log.error({ error: failure, signature: cause.signature }, 'the indexer has stopped');
    waiters.rejectAll(cause);
    options.onFailure?.(cause);
  }

  return {
    async start() {
      if (state !== 'idle') throw new Error('an indexer is started once');
      opened = openLocked(options.path);
      const { db } = opened;
      try {
        await requireSameChain(opened, connection, programId, patience);
      } catch (cause) {
        opened.close();
        state = 'stopped';
        throw cause;
      }
      if (stopping.signal.aborted) return;
      state = 'running';
      patience.request();
      const { path, pollMs, rescanMs, compareMs, signaturePage = 1_000, history } = options;
      const source = { connection, programId, notices, signaturePage, ...(history && { history }) };
      keeper = createKeeper({
        ingest: { ...source, db },
        log,
        rebuild: () => rebuild({ path, ingest: source, log }),
        rescanMs,
        compareMs,
      });
      const subscription = listen();
      running = follow({ keeper, notices, patience, waiters, stopping: stopping.signal, log, pollMs })
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
      waiters.rejectAll(new Error('the indexer was stopped'));
      opened?.close();
      opened = null;
    },

    async status() {
      const index = opened ? await readStatus(opened.db) : NOTHING_YET;
      return { ...index, state, subscribed, error: lastError() };
    },

    async caughtUpTo(slot, timeoutMs) {
      if (state === 'failed') throw new Error(failure ?? 'the indexer has failed');
      const caughtUp = waiters.wait(BigInt(slot), timeoutMs, lastError);
      patience.request();
      await caughtUp;
    },
  };
}

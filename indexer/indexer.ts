/**
 * The indexer as a part that can be started and stopped: opens index.db, makes sure that it belongs to the chain, and
 * follows the program (follow.ts). What may be temporary is tried again for ever; a transaction that cannot be applied
 * stops it.
 */
import type { Connection, PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import type { OpenDatabase } from '../app/database/open.ts';
import { PROGRAM_ID } from '../app/sdk/program/program.ts';
import type { History } from '../app/solana/helius.ts';
import { connectForReading } from '../app/solana/rpc.ts';
import { subscribe } from '../app/solana/subscription.ts';
import { follow } from './follow.ts';
import { claimChain } from './identity.ts';
import { createKeeper, type Keeper } from './keeper.ts';
import { createNotices } from './notices.ts';
import { openAlone } from './open.ts';
import { createPatience, type Pauses } from './patience.ts';
import { type IndexStatus, readStatus } from './read.ts';
import { rebuild } from './rebuild.ts';
import type { IndexDatabase } from './tables.ts';
import { createWaiters } from './waiters.ts';

export interface IndexerOptions {
  rpcUrl: string;
  wsUrl: string;
  /** Path of index.db, which is made where it is missing, or the URL of a PostgreSQL. */
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
  /** Told when the indexer has stopped: a transaction cannot be applied, or another one may keep the index now. */
  onFailure?(error: Error): void;
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
   * background. Throws where another indexer keeps the file, or where it was made from another chain; of a PostgreSQL it
   * takes over when the other one has ended.
   */
  start(): Promise<void>;
  /** Ends once the page at hand is written, or before it is. */
  stop(): Promise<void>;
  status(): Promise<IndexerStatus>;
  /** Resolves when everything confirmed before this call, up to this slot, is in the tables. Throws at the timeout. */
  caughtUpTo(slot: bigint | number, timeoutMs: number): Promise<void>;
}

/** Waits for the node, and throws where it is of another chain than the index. */
async function requireSameChain(
  { db }: OpenDatabase<IndexDatabase>,
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
  let opened: OpenDatabase<IndexDatabase> | null = null;
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

  /** Once: `stop` may come while a start that has failed closes it. */
  async function closeOpened(): Promise<void> {
    const closing = opened;
    opened = null;
    await closing?.close();
  }

  function fail(cause: Error & { signature?: string }): void {
    state = 'failed';
    failure = cause instanceof Error ? cause.message : String(cause);
    log.error({ error: failure, signature: cause.signature }, 'the indexer has stopped');
    waiters.rejectAll(cause);
    options.onFailure?.(cause);
  }

  return {
    async start() {
      if (state !== 'idle') throw new Error('an indexer is started once');
      opened = await openAlone(options.path, {
        stop: stopping.signal,
        onStandby: () => log.info('another indexer keeps the index; this one stands by'),
        onAway: (error) => log.warn({ error: error.message }, 'the database is out of reach; waiting for it'),
        onLost: (error) => {
          fail(error);
          stopping.abort(error);
        },
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
      await closeOpened();
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

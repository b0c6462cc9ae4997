/**
 * The indexer as a part that can be started and stopped: runs passes (ingest.ts) whenever the subscription hints at
 * something new, after each reconnect, and every few seconds in case a hint was missed. What may be temporary is tried
 * again for ever; a transaction that cannot be applied stops it. What the node has left out is looked for again and again
 * (rescan.ts).
 */
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import { type Lock, LockHeld, takeLock } from '../app/database/lock.ts';
import type { OpenedDatabase } from '../app/database/open.ts';
import { PROGRAM_ID } from '../app/sdk/program/program.ts';
import type { History } from '../app/solana/helius.ts';
import { connectForReading } from '../app/solana/rpc.ts';
import { subscribe } from '../app/solana/subscription.ts';
import { ApplyError, type SnapshotNeeded } from './apply.ts';
import { claimChain } from './identity.ts';
import { type IngestDeps, pass } from './ingest.ts';
import { createNotices } from './notices.ts';
import { openIndex } from './open.ts';
import { type IndexStatus, readStatus } from './read.ts';
import { rescan } from './rescan.ts';
import type { IndexDatabase } from './tables.ts';

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
  /** Ends after the page at hand. */
  stop(): Promise<void>;
  status(): Promise<IndexerStatus>;
  /** Resolves when everything confirmed before this call, up to this slot, is in the tables. Throws at the timeout. */
  caughtUpTo(slot: bigint | number, timeoutMs: number): Promise<void>;
}

/** A few ms in which notifications of one block gather to one pass. */
const DEBOUNCE_MS = 4;
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;
/** A node may notify of a transaction a moment before it lists it: look again soon, this many times. */
const SOON_MS = 40;
const SOON_TIMES = 25;
const RESCAN_MS = 60_000;
/** Slots before the last rescan's end that each looks through too: over three minutes of mainnet, a few requests. */
const RESCAN_SLOTS = 512n;

/** Two would write the same rows, and both move the cursor. Throws where another indexer has the file. */
function lockIndex(path: string): Lock {
  try {
    return takeLock(`${path}.lock`);
  } catch (cause) {
    if (!(cause instanceof LockHeld)) throw cause;
    throw new Error(`${path} is kept by another indexer${cause.holder}: stop that one, or choose another DATA_DIR`);
  }
}

export function createIndexer(options: IndexerOptions): Indexer {
  const { log } = options;
  const programId = options.programId ?? PROGRAM_ID;
  const notices = createNotices();
  const stopping = new AbortController();
  const connection = connectForReading(options.rpcUrl, stopping.signal);
  let opened: OpenedDatabase<IndexDatabase> | null = null;
  let running: Promise<void> | null = null;
  let state: IndexerStatus['state'] = 'idle';
  let subscribed = false;
  let error: string | null = null;
  let wake = () => {};
  let wanted = false;
  /** When the next rescan is due, and how far the last one came; null before the first. */
  let rescanAt = 0;
  let rescannedTo: bigint | null = null;
  const waiters = new Set<{ slot: bigint; resolve(): void; reject(error: Error): void }>();

  const request = () => {
    wanted = true;
    wake();
  };

  /** Until something is requested, or the time is over. */
  const idle = async (ms: number, wakeable: boolean) => {
    if (stopping.signal.aborted || (wakeable && wanted)) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        stopping.signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      stopping.signal.addEventListener('abort', end);
      if (wakeable) wake = end;
    });
  };

  /** Runs until it works or the indexer is stopped (then undefined); ApplyError goes through. */
  const untilDone = async <T>(what: string, action: () => Promise<T>): Promise<T | undefined> => {
    for (let retryMs = RETRY_MIN_MS; !stopping.signal.aborted; retryMs = Math.min(2 * retryMs, RETRY_MAX_MS)) {
      try {
        const value = await action();
        if (error) log.info(`${what}: works again`);
        error = null;
        return value;
      } catch (cause) {
        error = cause instanceof Error ? cause.message : String(cause);
        if (cause instanceof ApplyError) throw cause;
        if (stopping.signal.aborted) return undefined;
        log.warn({ error, retryMs }, `${what}: will be tried again`);
        await idle(retryMs, false);
      }
    }
    return undefined;
  };

  const onGap = (evidence: SnapshotNeeded) => {
    log.warn({ reason: evidence.message }, 'the node left out a transaction; the accounts are read instead');
    rescanAt = 0;
  };

  /** Looks for what the node left out, where that is due. A failure waits for the next time: the passes matter more. */
  const rescanWhenDue = async (deps: IngestDeps, head: bigint) => {
    if (performance.now() < rescanAt) return;
    rescanAt = performance.now() + (options.rescanMs ?? RESCAN_MS);
    try {
      const found = await rescan({ ...deps, onGap: () => {} }, (rescannedTo ?? head) - RESCAN_SLOTS);
      for (const signature of found) log.warn({ signature }, 'a transaction that the node had left out was applied');
      rescannedTo = head;
    } catch (cause) {
      if (cause instanceof ApplyError) throw cause;
      if (!stopping.signal.aborted) log.warn({ error: String(cause) }, 'looking for gaps: will be tried again');
    }
  };

  const run = async (db: OpenedDatabase<IndexDatabase>['db']) => {
    const { signaturePage = 1_000, history } = options;
    const deps: IngestDeps = { connection, programId, db, notices, signaturePage, ...(history && { history }), onGap };
    let soon = 0;
    while (!stopping.signal.aborted) {
      await idle(soon > 0 || waiters.size > 0 ? SOON_MS : (options.pollMs ?? 3_000), true);
      await idle(DEBOUNCE_MS, false);
      wanted = false;
      const present = [...waiters];
      const head = await untilDone('reading the chain', () => pass(deps));
      if (head === undefined) return;
      for (const waiter of present) {
        if (head < waiter.slot) continue;
        waiters.delete(waiter);
        waiter.resolve();
      }
      await rescanWhenDue(deps, head);
      soon = notices.waiting() > 0 ? soon + 1 : 0;
      if (soon > SOON_TIMES) {
        log.warn({ waiting: notices.waiting() }, 'the node notified of transactions that it does not list');
        notices.clear();
        rescanAt = 0;
        soon = 0;
      }
    }
  };

  return {
    async start() {
      if (state !== 'idle') throw new Error('an indexer is started once');
      const lock = lockIndex(options.path);
      try {
        const { sqlite, db, close } = openIndex(options.path);
        opened = {
          sqlite,
          db,
          close() {
            close();
            lock.release();
          },
        };
      } catch (cause) {
        lock.release();
        throw cause;
      }
      const { db } = opened;
      try {
        await untilDone('reaching the node', async () => {
          const genesisHash = await connection.getGenesisHash();
          return claimChain(db, { genesisHash, programId: programId.toBase58() });
        }).then((refusal) => {
          if (refusal) throw new Error(refusal);
        });
      } catch (cause) {
        opened.close();
        state = 'stopped';
        throw cause;
      }
      if (stopping.signal.aborted) return;
      state = 'running';
      wanted = true;
      const subscription = subscribe({
        wsUrl: options.wsUrl,
        address: programId.toBase58(),
        ...(options.heartbeatMs && { heartbeatMs: options.heartbeatMs }),
        onLogs: (notice) => {
          if (notices.add(notice)) request();
        },
        onSubscribed: () => {
          subscribed = true;
          log.info('subscribed to the program');
          request();
        },
        onLost: (reason) => {
          if (subscribed) log.warn({ reason }, 'the WebSocket was lost; reconnecting');
          subscribed = false;
        },
      });
      running = run(db)
        .catch((cause) => {
          state = 'failed';
          error = cause instanceof Error ? cause.message : String(cause);
          log.error({ error, signature: (cause as ApplyError).signature }, 'the indexer has stopped');
          for (const waiter of waiters) waiter.reject(cause as Error);
          options.onFailure?.(cause as ApplyError);
        })
        .finally(() => {
          subscription.close();
          subscribed = false;
        });
    },

    async stop() {
      stopping.abort(new Error('stopped'));
      await running;
      if (state !== 'failed') state = 'stopped';
      for (const waiter of waiters) waiter.reject(new Error('the indexer was stopped'));
      opened?.close();
      opened = null;
    },

    async status() {
      const index = opened ? await readStatus(opened.db) : { cursor: null, slot: null, checkedAt: null };
      return { ...index, state, subscribed, error };
    },

    async caughtUpTo(slot, timeoutMs) {
      let timer: NodeJS.Timeout | undefined;
      const entry = { slot: BigInt(slot), resolve: () => {}, reject: (_: Error) => {} };
      const caughtUp = new Promise<void>((resolve, reject) => {
        entry.resolve = resolve;
        entry.reject = reject;
        timer = setTimeout(
          () =>
            reject(new Error(`the index did not reach slot ${slot} in ${timeoutMs} ms${error ? `: ${error}` : ''}`)),
          timeoutMs,
        );
      });
      if (state === 'failed') entry.reject(new Error(error ?? 'the indexer has failed'));
      waiters.add(entry);
      request();
      try {
        await caughtUp;
      } finally {
        clearTimeout(timer);
        waiters.delete(entry);
      }
    },
  };
}

/**
 * Which relay processes live. Each says so in the ledger again and again, from a thread of its own, so that a busy event
 * loop does not look like death; and it holds a lock that the operating system gives up with the process, so that the
 * rows of a killed one need not wait for its lease to run out.
 */
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type Sqlite from 'better-sqlite3';
import type { Logger } from 'pino';
import { createLogState } from '../../database/groupCommit.ts';
import { LockHeld, takeLock } from '../../database/lock.ts';

/** How long a process counts as alive after it last said so; it does five times as often. */
export const LEASE_MS = 15_000;
/** A process whose event loop has not turned for so long does not say that it lives: whatever it does, it serves nobody. */
const STALLED_MS = 60_000;
const BEAT_MS = 1_000;
/** A lease may have been renewed a moment after our clock was read. */
const SLACK_MS = 1_000;
/** From here on the thread copies the log into the file as it grows. */
const LONG_LOG_BYTES = 32 * 1024 * 1024;
/** When the thread is started again after it has failed. */
const RESTART_MS = 1_000;

export interface Leases {
  /** Says from now on that this process is alive; the returned function takes it back and leaves its rows to others. */
  keep(log: Logger): Promise<() => Promise<void>>;
  /** Other processes that are alive; what is left of those that are not is cleared away. */
  alive(nowMs: number): string[] | Promise<string[]>;
}

/** The leases of the ledger at `path`, seen from the process that calls itself `owner`. */
export function createLeases(
  ledger: Sqlite.Database,
  path: string,
  owner: string,
  { leaseMs = LEASE_MS, log: logState = createLogState() } = {},
): Leases {
  const folder = join(dirname(path), 'relays');
  const renew = ledger.prepare(RENEW);
  const selectOthers = ledger.prepare<[string], { owner: string; alive_until_ms: bigint }>(
    'SELECT owner, alive_until_ms FROM relays WHERE owner <> ?',
  );
  const forget = ledger.prepare('DELETE FROM relays WHERE owner = ?');

  return {
    async keep(log) {
      const lock = takeLock(join(folder, owner));
      renew.run(owner, BigInt(Date.now() + leaseMs));
      const beat = new BigInt64Array(new SharedArrayBuffer(8));
      const turn = () => void Atomics.store(beat, 0, process.hrtime.bigint());
      turn();
      const beating = setInterval(turn, BEAT_MS);
      let isOver = false;
      let thread = startThread();

      function startThread(): Worker {
        const workerData = {
          path,
          owner,
          renew: RENEW,
          leaseMs,
          stalledMs: STALLED_MS,
          beat,
          longLogBytes: LONG_LOG_BYTES,
          logState,
        };
        const worker = new Worker(new URL('./leaseThread.mjs', import.meta.url), { workerData, execArgv: [] });
        worker.unref();
        worker.once('error', (error) => {
          log.error({ error: String(error) }, 'the lease was not renewed');
          setTimeout(() => {
            if (!isOver) thread = startThread();
          }, RESTART_MS).unref();
        });
        return worker;
      }

      return async () => {
        isOver = true;
        clearInterval(beating);
        await thread.terminate();
        forget.run(owner);
        lock.release();
        removeLock(join(folder, owner));
      };
    },
    alive(nowMs) {
      const alive: string[] = [];
      for (const { owner: other, alive_until_ms } of selectOthers.all(owner)) {
        const leftMs = Number(alive_until_ms) - nowMs;
        // A clock that was set back must not keep the dead alive: no lease lasts longer than that from now.
        if (leftMs > 0 && leftMs <= leaseMs + SLACK_MS && isLocked(join(folder, other))) alive.push(other);
        else forget.run(other);
      }
      return alive;
    },
  };
}

const RENEW = `INSERT INTO relays (owner, alive_until_ms) VALUES (?, ?)
  ON CONFLICT (owner) DO UPDATE SET alive_until_ms = excluded.alive_until_ms`;

/** Whether the process of this name still holds its lock; what is left of one that does not is removed. */
function isLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    takeLock(file).release();
  } catch (error) {
    if (error instanceof LockHeld) return true;
    throw error;
  }
  removeLock(file);
  return false;
}

function removeLock(file: string): void {
  for (const path of [file, `${file}.pid`]) rmSync(path, { force: true });
}

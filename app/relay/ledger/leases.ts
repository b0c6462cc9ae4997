/**
 * Tracks which relay processes live. Each renews its lease in the ledger from a separate thread, because a process with
 * a busy event loop is not dead. Each also holds a file lock that the operating system frees with the process. The rows
 * of a killed process therefore need not wait for its lease to end.
 */
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type Sqlite from 'better-sqlite3';
import type { Logger } from 'pino';
import { LockHeld, takeLock } from '../../database/lock.ts';

/** Time that a process counts as alive after a renewal; it renews five times as often. */
export const LEASE_MS = 15_000;
/** A process whose event loop has not turned for this long stops renewing, because it serves nobody. */
const STALLED_MS = 60_000;
const BEAT_MS = 1_000;
/** A lease may have been renewed just after our clock was read. */
const SLACK_MS = 1_000;
/** Delay before a failed thread is started again. */
const RESTART_MS = 1_000;

export interface Leases {
  /** Keeps this process's lease from now on. The returned function ends the lease and leaves the rows to others. */
  keep(log: Logger): Promise<() => Promise<void>>;
  /** Other live processes. Rows and locks of dead ones are removed. */
  alive(nowMs: number): string[] | Promise<string[]>;
}

/** The leases of the ledger at `path`, seen from the process `owner`. */
export function createLeases(
  ledger: Sqlite.Database,
  path: string,
  owner: string,
  { leaseMs = LEASE_MS } = {},
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
        };
        const worker = new Worker(new URL('./leaseThread.mjs', import.meta.url), { workerData, execArgv: [] });
        worker.unref();
        worker.once('error', (error) => {
          log.error({ error }, 'the lease was not renewed');
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
        // If the clock was set back, dead processes must not count as alive: no lease lasts longer than this from now.
        if (leftMs > 0 && leftMs <= leaseMs + SLACK_MS && isLocked(join(folder, other))) alive.push(other);
        else forget.run(other);
      }
      return alive;
    },
  };
}

const RENEW = `INSERT INTO relays (owner, alive_until_ms) VALUES (?, ?)
  ON CONFLICT (owner) DO UPDATE SET alive_until_ms = excluded.alive_until_ms`;

/** True if the process of this name still holds its lock. The lock file of a dead process is removed. */
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

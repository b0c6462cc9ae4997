/**
 * The thread that renews a relay's lease even while its event loop is busy, provided that loop has turned lately. It
 * also copies the WAL into the ledger, so that the main thread has little of that work.
 */
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

/** At 40 MB/s of writes, SQLite's own checkpoint with each renewal leaves the main thread half a second of copying. */
const COPY_EVERY_MS = 500;

const { path, owner, renew, leaseMs, stalledMs, beat } = workerData;
const ledger = new Sqlite(path, { fileMustExist: true, timeout: Math.ceil(leaseMs / 3) });
const statement = ledger.prepare(renew);

setInterval(() => {
  const silentMs = Number(process.hrtime.bigint() - Atomics.load(beat, 0)) / 1e6;
  if (silentMs < stalledMs) statement.run(owner, BigInt(Date.now() + leaseMs));
}, leaseMs / 5);

setInterval(() => {
  try {
    // Passive: it waits for nobody, and nobody waits for it.
    ledger.pragma('wal_checkpoint(PASSIVE)');
  } catch {
    // If the disk fails, the main thread reports it. The lease must be renewed meanwhile.
  }
}, COPY_EVERY_MS);

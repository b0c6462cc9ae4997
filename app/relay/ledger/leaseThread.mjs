/**
 * The thread that renews a relay's lease, whatever its event loop is busy with, as long as that has turned lately. Where the
 * log grows, it copies what is in it into the file, so that the thread that serves everybody has little of that to do.
 */
import { statSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

const { path, owner, renew, leaseMs, stalledMs, beat, longLogBytes } = workerData;
/** How often the log is looked at, and how much more of it is worth another copying, which waits for the disk. */
const LOOK_MS = 50;
const COPIED_BYTES = 4 * 1024 * 1024;
const ledger = new Sqlite(path, { fileMustExist: true, timeout: Math.ceil(leaseMs / 3) });
const statement = ledger.prepare(renew);

setInterval(() => {
  const silentMs = Number(process.hrtime.bigint() - Atomics.load(beat, 0)) / 1e6;
  if (silentMs < stalledMs) statement.run(owner, BigInt(Date.now() + leaseMs));
}, leaseMs / 5);

let copiedTo = 0;
setInterval(() => {
  const { size = 0 } = statSync(`${path}-wal`, { throwIfNoEntry: false }) ?? {};
  // It was begun again.
  if (size < copiedTo) copiedTo = 0;
  if (size <= longLogBytes || size < copiedTo + COPIED_BYTES) return;
  copiedTo = size;
  ledger.pragma('wal_checkpoint(PASSIVE)');
}, LOOK_MS);

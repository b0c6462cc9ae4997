/**
 * The thread that renews a relay's lease even while its event loop is busy, provided that loop has turned lately. It
 * also checkpoints a growing WAL, so that the main thread has little of that work.
 */
import { fstatSync, openSync, readSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

const { path, owner, renew, leaseMs, stalledMs, beat, longLogBytes } = workerData;
/** How often the WAL is checked, and how much it must grow before the next checkpoint, which waits for the disk. */
const LOOK_MS = 50;
const COPIED_BYTES = 4 * 1024 * 1024;
/** Tries of one checkpoint to copy everything. */
const COPYING_TURNS = 3;
/** From SQLite's file format. */
const WAL_HEADER_BYTES = 32;
const WAL_FRAME_BYTES = 24;
const ledger = new Sqlite(path, { fileMustExist: true, timeout: Math.ceil(leaseMs / 3) });
const statement = ledger.prepare(renew);

setInterval(() => {
  const silentMs = Number(process.hrtime.bigint() - Atomics.load(beat, 0)) / 1e6;
  if (silentMs < stalledMs) statement.run(owner, BigInt(Date.now() + leaseMs));
}, leaseMs / 5);

/** Bytes in the WAL since its last restart. Frames behind them belong to an earlier run and have other salts. */
function logBytes(file) {
  const head = Buffer.alloc(WAL_HEADER_BYTES);
  if (readSync(file, head, 0, head.length, 0) < head.length) return 0;
  const frameBytes = WAL_FRAME_BYTES + head.readUInt32BE(8);
  const salts = head.subarray(16, 24);
  const frame = Buffer.alloc(WAL_FRAME_BYTES);
  const isOfThis = (at) => {
    const read = readSync(file, frame, 0, frame.length, WAL_HEADER_BYTES + at * frameBytes);
    return read === frame.length && frame.subarray(8, 16).equals(salts);
  };
  let [known, unknown] = [0, Math.floor(fstatSync(file).size / frameBytes) + 1];
  while (unknown - known > 1) {
    const middle = (known + unknown) >> 1;
    if (isOfThis(middle - 1)) known = middle;
    else unknown = middle;
  }
  return known * frameBytes;
}

// The WAL is never removed while the ledger is open here.
const log = openSync(`${path}-wal`, 'r');
let copiedTo = 0;

/** Returns true if nothing is left to copy: then the next write restarts the WAL. */
function copy() {
  const [{ log: frames, checkpointed }] = ledger.pragma('wal_checkpoint(PASSIVE)');
  return frames === checkpointed;
}

setInterval(() => {
  const bytes = logBytes(log);
  // The WAL was restarted.
  if (bytes < copiedTo) copiedTo = 0;
  if (bytes <= longLogBytes || bytes < copiedTo + COPIED_BYTES) return;
  copiedTo = bytes;
  // Writes continue meanwhile, so it may need more than one try.
  for (let turn = 0; turn < COPYING_TURNS && !copy(); turn += 1);
}, LOOK_MS);

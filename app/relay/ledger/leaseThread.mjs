/**
 * The thread that renews a relay's lease, whatever its event loop is busy with, as long as that has turned lately. Where the
 * log grows, it copies what is in it into the file, so that the thread that serves everybody has little of that to do.
 */
import { fstatSync, openSync, readSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

const { path, owner, renew, leaseMs, stalledMs, beat, longLogBytes, logState } = workerData;
/** How often the log is looked at, and how much more of it is worth another copying, which waits for the disk. */
const LOOK_MS = 50;
const COPIED_BYTES = 4 * 1024 * 1024;
/** How often it is tried to leave nothing. */
const COPYING_TURNS = 3;
/** Of SQLite's file format. */
const WAL_HEADER_BYTES = 32;
const WAL_FRAME_BYTES = 24;
const ledger = new Sqlite(path, { fileMustExist: true, timeout: Math.ceil(leaseMs / 3) });
const statement = ledger.prepare(renew);

setInterval(() => {
  const silentMs = Number(process.hrtime.bigint() - Atomics.load(beat, 0)) / 1e6;
  if (silentMs < stalledMs) statement.run(owner, BigInt(Date.now() + leaseMs));
}, leaseMs / 5);

/** Bytes that are in the log since it was begun: what is behind them is of an earlier one, and has other salts. */
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

// The log is never removed while the ledger is open here.
const log = openSync(`${path}-wal`, 'r');
let copiedTo = 0;

/** Returns whether nothing is left to copy: then the next write begins the log again. */
function copy() {
  const [{ log: frames, checkpointed }] = ledger.pragma('wal_checkpoint(PASSIVE)');
  return frames === checkpointed;
}

setInterval(() => {
  const bytes = logBytes(log);
  // It was begun again.
  if (bytes < copiedTo) copiedTo = 0;
  if (bytes <= longLogBytes || bytes < copiedTo + COPIED_BYTES) return;
  copiedTo = bytes;
  // What is long waits; what is short is written on, so that it may take more than once.
  Atomics.store(logState, 0, 1);
  for (let turn = 0; turn < COPYING_TURNS && !copy(); turn += 1);
  Atomics.store(logState, 0, 0);
}, LOOK_MS);

/** The thread that renews a relay's lease, whatever its event loop is busy with, as long as that has turned lately. */
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

const { path, owner, renew, leaseMs, stalledMs, beat } = workerData;
const ledger = new Sqlite(path, { fileMustExist: true, timeout: Math.ceil(leaseMs / 3) });
const statement = ledger.prepare(renew);

setInterval(() => {
  const silentMs = Number(process.hrtime.bigint() - Atomics.load(beat, 0)) / 1e6;
  if (silentMs < stalledMs) statement.run(owner, BigInt(Date.now() + leaseMs));
}, leaseMs / 5);

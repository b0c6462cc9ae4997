/** What the thread of pageThread.ts runs: statements come one by one, and those between `begin` and `commit` are a transaction. */
import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

const { path, pragmas } = workerData;
const sqlite = new Sqlite(path, { fileMustExist: true, timeout: 5_000 });
for (const pragma of pragmas) sqlite.pragma(pragma);
const statements = new Map();
/** Why a page could not be written; none after it is. */
let failure = null;

function prepare(text) {
  if (!statements.has(text)) statements.set(text, sqlite.prepare(text));
  return statements.get(text);
}

/** Another process may have replaced the tables since they were read. */
function begin(cursor) {
  sqlite.exec('BEGIN IMMEDIATE');
  const found = prepare('SELECT signature FROM cursor').get()?.signature ?? null;
  if (found !== cursor) throw new Error(`the index is at ${found}, not at ${cursor}`);
}

function end() {
  if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
  // Where somebody reads for long, the next one who writes goes on with it.
  sqlite.pragma('wal_checkpoint(TRUNCATE)');
  sqlite.close();
  parentPort.close();
}

const run = {
  begin: ({ cursor }) => begin(cursor),
  write: ({ text, values }) => prepare(text).run(values),
  commit: () => sqlite.exec('COMMIT'),
};

parentPort.on('message', (message) => {
  if (message.kind === 'end') {
    end();
    return;
  }
  try {
    if (failure === null) run[message.kind](message);
  } catch (error) {
    failure = error;
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
  }
  if (message.kind === 'commit') parentPort.postMessage({ isWritten: failure === null });
});

/** What the thread of pageThread.ts runs: each message is a page, whose statements are a transaction; null ends it. */
import { deserialize } from 'node:v8';
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

function write({ cursor, statements }) {
  begin(cursor);
  for (const statement of statements) {
    const { text, values } = deserialize(statement);
    prepare(text).run(values);
  }
  sqlite.exec('COMMIT');
}

parentPort.on('message', (page) => {
  if (page === null) {
    end();
    return;
  }
  try {
    if (failure === null) write(page);
  } catch (error) {
    failure = error;
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
  }
  parentPort.postMessage({ isWritten: failure === null });
});

/** What the threads of pageThread.ts run, each with a connection of its own: a message says what to do, and with what. */
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

function write({ cursor, statements }) {
  begin(cursor);
  for (const statement of statements) {
    const { text, values } = deserialize(statement);
    prepare(text).run(values);
  }
  sqlite.exec('COMMIT');
}

const run = {
  /** A page: its statements are a transaction. */
  page(page) {
    try {
      if (failure === null) write(page);
    } catch (error) {
      failure = error;
      if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
    }
    parentPort.postMessage({ isWritten: failure === null });
  },

  /** Copies the log into the file; once all of it is copied and more is written, it begins anew. */
  copy({ tells }) {
    sqlite.pragma('wal_checkpoint(PASSIVE)');
    if (tells) parentPort.postMessage({ isCopied: true });
  },

  end({ truncate }) {
    // Where somebody reads for long, the next one who writes goes on with it.
    if (truncate) sqlite.pragma('wal_checkpoint(TRUNCATE)');
    sqlite.close();
    parentPort.close();
  },
};

parentPort.on('message', ({ kind, ...rest }) => run[kind](rest));

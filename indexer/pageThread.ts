/** A thread with a connection of its own to index.db, which runs statements while this thread goes on, and one for its log. */
import { serialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import {
  type CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { isPostgres } from '../app/database/portable.ts';
import { INDEX_PRAGMAS } from './open.ts';
import type { IndexDatabase } from './tables.ts';

type Db = Kysely<IndexDatabase>;

/**
 * Each page changes nearly all leaves of two unique keys that come in no order, of 60 MB each at a million executions: they
 * stay in memory, and are copied from the log into the file once for many pages. Without the other thread that would be at
 * each GiB of log, of pages of 4 KiB.
 */
const PRAGMAS = [...INDEX_PRAGMAS, `cache_size = -${256 * 1_024}`, `wal_autocheckpoint = ${256 * 1_024}`];
/** Some 700 MB of log at a million executions. */
const COPY_EVERY = 16;

export interface PageThread {
  /** Reads the tables at once, as they are, and keeps what is to be written. */
  db: Db;
  /**
   * Hands what was kept to the thread, as one transaction, if the last transaction applied is this one then. Resolves to
   * whether it was written. After one that was not, none is.
   */
  commit(cursor: string | null): Promise<boolean>;
  /** Resolves when all pages are written and the log is copied into the file: nobody else should wait for so much of it. */
  end(): Promise<void>;
}

/** Null where the tables are not in a file: PostgreSQL writes in a process of its own already. */
export async function startPageThread(db: Db): Promise<PageThread | null> {
  if (isPostgres(db)) return null;
  const files = await sql<{ name: string; file: string }>`PRAGMA database_list`.execute(db);
  const path = files.rows.find(({ name }) => name === 'main')?.file;
  if (!path) return null;
  const writer = startWorker(path, PRAGMAS);
  const copier = startWorker(path, INDEX_PRAGMAS);
  // What was written meanwhile is copied between two pages, so that the log can begin anew with the next.
  copier.worker.on('message', () => writer.worker.postMessage({ kind: 'copy', tells: false }));
  let statements: Uint8Array[] = [];
  let pages = 0;
  return {
    // As bytes, which are handed over without a copy and are nothing to the collector.
    db: divided(db, (text, values) => statements.push(serialize({ text, values }))),
    async commit(cursor) {
      const told = new Promise<boolean>((resolve) => {
        writer.worker.once('message', ({ isWritten }) => resolve(isWritten));
      });
      const buffers = statements.map(({ buffer }) => buffer as ArrayBuffer);
      writer.worker.postMessage({ kind: 'page', cursor, statements }, buffers);
      statements = [];
      const isWritten = await Promise.race([told, writer.ended]);
      pages += 1;
      if (isWritten && pages % COPY_EVERY === 0) copier.worker.postMessage({ kind: 'copy', tells: true });
      return isWritten;
    },
    async end() {
      copier.worker.postMessage({ kind: 'end', truncate: false });
      await copier.ended;
      writer.worker.postMessage({ kind: 'end', truncate: true });
      await writer.ended;
    },
  };
}

/** Why one ends is told by nobody but by what it leaves undone. */
function startWorker(path: string, pragmas: readonly string[]): { worker: Worker; ended: Promise<false> } {
  const workerData = { path, pragmas };
  // A thread needs none of the settings, which hold secrets.
  const worker = new Worker(new URL('./pageWorker.mjs', import.meta.url), { workerData, execArgv: [], env: {} });
  worker.on('error', () => undefined);
  return { worker, ended: new Promise((resolve) => worker.once('exit', () => resolve(false))) };
}

/** The same tables, read by the connection that there is and written by other means. */
function divided(db: Db, write: (text: string, values: readonly unknown[]) => void): Db {
  const reader = db.withoutPlugins();
  const connection: DatabaseConnection = {
    async executeQuery<Row>(query: CompiledQuery) {
      if (/^\s*select/i.test(query.sql)) return reader.executeQuery<Row>(query as CompiledQuery<Row>);
      write(query.sql, query.parameters);
      return { rows: [] };
    },
    // biome-ignore lint/correctness/useYield: nobody reads row by row here
    async *streamQuery() {
      throw new Error('rows are read whole here');
    },
  };
  const nothing = async () => undefined;
  return new Kysely<IndexDatabase>({
    plugins: [...db.getExecutor().plugins],
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector: (of) => new SqliteIntrospector(of),
      createDriver: () => ({
        init: nothing,
        acquireConnection: async () => connection,
        // What begins and ends is a page.
        beginTransaction: nothing,
        commitTransaction: nothing,
        rollbackTransaction: nothing,
        releaseConnection: nothing,
        destroy: nothing,
      }),
    },
  });
}

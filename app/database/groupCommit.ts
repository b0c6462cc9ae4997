/**
 * Commits several writes in one transaction. Each write waits for the end of the present turn of the event loop, and
 * all writes requested by then are committed together. If one must be durable, the group waits once for the disk. The
 * next group collects meanwhile.
 */
import type Sqlite from 'better-sqlite3';
import type { CompiledQuery } from 'kysely';
import { LRUCache } from 'lru-cache';

/** The result of a write. `changes` counts rows; if it returns `rows`, nothing is counted. */
export interface Written {
  changes: number;
  rows: unknown[];
}

/** A statement of a write that must change one row each changed none or several, so nothing was written. */
export class NotAll extends Error {
  constructor(readonly index: number) {
    super(`statement ${index} of a write did not change exactly one row`);
  }
}

/** Throws NotAll unless a statement changed or returned one row. Returns its result. */
export function requireOne(written: Written, index: number): Written {
  if (written.changes + written.rows.length !== 1) throw new NotAll(index);
  return written;
}

export interface GroupCommit {
  /**
   * Resolves once this write and all earlier ones are on disk. A write that breaks a rule of the tables does not affect
   * others. If the disk fails, the whole group is undone and rejected. `more` is written with it, all or none; the
   * result is that of `query`.
   */
  intend(query: CompiledQuery, ...more: CompiledQuery[]): Promise<Written>;
  /** Several statements, of which each must change or return one row. Otherwise none is kept, and it throws NotAll. */
  intendAll(queries: readonly CompiledQuery[]): Promise<void>;
  /** Resolves once it is written; a power cut may lose it. */
  note(query: CompiledQuery, ...more: CompiledQuery[]): Promise<Written>;
  /**
   * Runs several writes, all or none, while it holds these locks exclusively. SQLite has one writer, so there it needs
   * no locks. With `isDurable` the writes are on disk, like an intent.
   */
  underLocks(locks: readonly string[], queries: readonly CompiledQuery[], isDurable?: boolean): Promise<Written[]>;
  /** Number of commits with intents so far; each is one fsync. */
  commits(): number;
}

interface Waiting {
  /** Run together: all or none. */
  queries: readonly CompiledQuery[];
  isDurable: boolean;
  isIntent: boolean;
  /** Each statement must change one row. */
  isWhole?: boolean;
  resolve(written: Written[]): void;
  reject(error: unknown): void;
}

/** Prepared statements kept for each connection. */
const MAX_STATEMENTS = 400;

/**
 * Prepares each text once, because preparing costs as much as running. If only a parameter follows LIMIT, SQLite (since
 * 3.46) plans for its value and prepares the statement again for every value. Adding 0 to the parameter avoids that.
 */
export function createPrepare(sqlite: Sqlite.Database): (text: string) => Sqlite.Statement {
  const statements = new LRUCache<string, Sqlite.Statement>({ max: MAX_STATEMENTS });
  return (text) => {
    const known = statements.get(text);
    // A statement whose rows are still being read cannot be run again.
    if (known && !known.busy) return known;
    const statement = sqlite.prepare(text.replace(/\blimit \?/gi, '$& + 0'));
    statements.set(text, statement);
    return statement;
  };
}

/** Runs queries on a connection. */
export function createRun(sqlite: Sqlite.Database): (query: CompiledQuery) => Written {
  const prepare = createPrepare(sqlite);
  return ({ sql, parameters }) => {
    const statement = prepare(sql);
    if (statement.reader) return { changes: 0, rows: statement.all(...parameters) };
    return { changes: statement.run(...parameters).changes, rows: [] };
  };
}

/** For a connection with `synchronous=NORMAL` on which nobody else opens transactions. */
export function createGroupCommit(sqlite: Sqlite.Database): GroupCommit {
  let waiting: Waiting[] = [];
  let commits = 0;
  const run = createRun(sqlite);
  // Becomes a savepoint inside the group's transaction; one statement needs none.
  const runTogether = sqlite.transaction((queries: readonly CompiledQuery[], isWhole: boolean) =>
    queries.map((query, index) => (isWhole ? requireOne(run(query), index) : run(query))),
  );

  const runAll = sqlite.transaction((group: Waiting[]) =>
    group.map((entry) => {
      try {
        const { queries, isWhole = false } = entry;
        const written = queries.length === 1 && !isWhole ? queries.map(run) : runTogether(queries, isWhole);
        return () => entry.resolve(written);
      } catch (error) {
        // A full disk or a failed read ends the whole transaction. Earlier writes are gone, and later ones would be
        // committed alone.
        if (!sqlite.inTransaction) throw error;
        return () => entry.reject(error);
      }
    }),
  );

  function runDurably(group: Waiting[]) {
    sqlite.pragma('synchronous = FULL');
    try {
      const answers = runAll.immediate(group);
      if (group.some((entry) => entry.isIntent)) commits += 1;
      return answers;
    } finally {
      sqlite.pragma('synchronous = NORMAL');
    }
  }

  function commit(): void {
    const group = waiting;
    waiting = [];
    try {
      const isDurable = group.some((entry) => entry.isDurable);
      for (const answer of isDurable ? runDurably(group) : runAll.immediate(group)) answer();
    } catch (error) {
      for (const entry of group) entry.reject(error);
    }
  }

  function write(entry: Omit<Waiting, 'resolve' | 'reject'>): Promise<Written[]> {
    return new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(commit);
      waiting.push({ ...entry, resolve, reject });
    });
  }

  return {
    intend: async (...queries) => (await write({ queries, isDurable: true, isIntent: true }))[0]!,
    intendAll: async (queries) => void (await write({ queries, isDurable: true, isIntent: true, isWhole: true })),
    note: async (...queries) => (await write({ queries, isDurable: false, isIntent: false }))[0]!,
    underLocks: (_locks, queries, isDurable = false) => write({ queries, isDurable, isIntent: false }),
    commits: () => commits,
  };
}

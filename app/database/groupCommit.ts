/**
 * Writes that share their transaction. Each waits for the end of the present turn of the event loop, and all that were
 * asked for by then are committed together; where one of them must be durable, the group waits for the disk, once, and
 * while it is busy the next group collects.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import type { CompiledQuery } from 'kysely';
import { LRUCache } from 'lru-cache';

/** What a write has done. `changes` counts rows; `rows` are those that it returns, and then nothing is counted. */
export interface Written {
  changes: number;
  rows: unknown[];
}

export interface GroupCommit {
  /**
   * Resolves once it is on the disk, and with it everything before. A write that breaks a rule of the tables harms no
   * other; where the disk fails, all of its group are undone and rejected.
   */
  intend(query: CompiledQuery): Promise<Written>;
  /** Resolves once it is written; a power cut may lose it. */
  note(query: CompiledQuery): Promise<Written>;
  /**
   * The same for several, all of them or none, beside which no other runs that names one of these locks. SQLite has one
   * writer, so that nothing runs beside anything. `begin` is called when it is their turn, which may be long after; what it
   * throws is what they are rejected with, and none of them runs.
   */
  alone(locks: readonly string[], queries: readonly CompiledQuery[], begin?: () => void): Promise<Written[]>;
  /** Resolves when nobody copies the log: something long can wait for that, and what it added would be left to copy. */
  room(): Promise<void>;
  /** Durable transactions committed so far: each is one fsync. */
  commits(): number;
}

interface Waiting {
  /** All of them or none. */
  queries: readonly CompiledQuery[];
  begin: (() => void) | undefined;
  isDurable: boolean;
  resolve(written: Written[]): void;
  reject(error: unknown): void;
}

/** What another thread says of the log: 1 while it copies a long one into the file, after which it may begin again. */
export const createLogState = () => new Int32Array(new SharedArrayBuffer(4));
/** Looked at so often, and for so long: a thread that has ended must not stop anybody. */
const ROOM_LOOK_MS = 5;
const ROOM_WAIT_MS = 1_000;

/** Statements kept ready for each connection. */
const MAX_STATEMENTS = 400;

/**
 * Prepares each text once: that costs as much as running it. To a parameter that stands alone after LIMIT SQLite fits its
 * plan, so that each value bound to it has the whole statement prepared anew, whatever the value (since 3.46). A sum is left
 * alone.
 */
export function createPrepare(sqlite: Sqlite.Database): (text: string) => Sqlite.Statement {
  const statements = new LRUCache<string, Sqlite.Statement>({ max: MAX_STATEMENTS });
  return (text) => {
    const known = statements.get(text);
    // A statement whose rows are still being read cannot be run a second time.
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

/** On a connection of `synchronous=NORMAL` that nobody else opens transactions on. */
export function createGroupCommit(sqlite: Sqlite.Database, log = createLogState()): GroupCommit {
  let waiting: Waiting[] = [];
  let commits = 0;
  const run = createRun(sqlite);
  // Inside the group's transaction it is a savepoint; one statement needs none.
  const runTogether = sqlite.transaction((queries: readonly CompiledQuery[]) => queries.map(run));

  const runAll = sqlite.transaction((group: Waiting[]) =>
    group.map((entry) => {
      try {
        const { queries } = entry;
        entry.begin?.();
        const written = queries.length === 1 ? queries.map(run) : runTogether(queries);
        return () => entry.resolve(written);
      } catch (error) {
        // A full disk or a failed read ends the whole transaction: what came before is gone, and what would come after
        // would be committed alone.
        if (!sqlite.inTransaction) throw error;
        return () => entry.reject(error);
      }
    }),
  );

  function runDurably(group: Waiting[]) {
    sqlite.pragma('synchronous = FULL');
    try {
      const answers = runAll.immediate(group);
      commits += 1;
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

  function write(queries: readonly CompiledQuery[], isDurable: boolean, begin?: () => void): Promise<Written[]> {
    return new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(commit);
      waiting.push({ queries, begin, isDurable, resolve, reject });
    });
  }

  return {
    intend: async (query) => (await write([query], true))[0]!,
    note: async (query) => (await write([query], false))[0]!,
    alone: (_locks, queries, begin) => write(queries, false, begin),
    async room() {
      const until = performance.now() + ROOM_WAIT_MS;
      while (Atomics.load(log, 0) !== 0 && performance.now() < until) await sleep(ROOM_LOOK_MS);
    },
    commits: () => commits,
  };
}

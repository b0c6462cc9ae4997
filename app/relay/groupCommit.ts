// Durable writes that share their fsync. A write waits for the end of the present turn of the event loop, and all that
// were asked for by then are committed in one transaction; while the disk is busy the next group collects.

import type Sqlite from 'better-sqlite3';
import type { CompiledQuery } from 'kysely';

export interface GroupCommit {
  /** Resolves with the number of rows changed, once they are on the disk. A write that fails harms no other. */
  write(query: CompiledQuery): Promise<number>;
  /** Transactions committed so far: each is one fsync where the connection is `synchronous=FULL`. */
  commits(): number;
}

interface Waiting {
  query: CompiledQuery;
  resolve(changes: number): void;
  reject(error: unknown): void;
}

export function createGroupCommit(sqlite: Sqlite.Database): GroupCommit {
  let waiting: Waiting[] = [];
  let commits = 0;
  const statements = new Map<string, Sqlite.Statement>();

  function run({ sql, parameters }: CompiledQuery): number {
    let statement = statements.get(sql);
    if (!statement) {
      statement = sqlite.prepare(sql);
      statements.set(sql, statement);
    }
    return statement.run(...parameters).changes;
  }

  const runAll = sqlite.transaction((group: Waiting[]) =>
    group.map((entry) => {
      try {
        const changes = run(entry.query);
        return () => entry.resolve(changes);
      } catch (error) {
        return () => entry.reject(error);
      }
    }),
  );

  function commit(): void {
    const group = waiting;
    waiting = [];
    try {
      const answers = runAll.immediate(group);
      commits += 1;
      for (const answer of answers) answer();
    } catch (error) {
      for (const entry of group) entry.reject(error);
    }
  }

  return {
    write(query) {
      return new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(commit);
        waiting.push({ query, resolve, reject });
      });
    },
    commits: () => commits,
  };
}

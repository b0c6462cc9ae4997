/** Records every SQL statement on any connection, of either database. costs.ts computes their cost. */
import Sqlite from 'better-sqlite3';
import pg from 'pg';

export interface Ran {
  text: string;
  values: unknown[];
}

const RUNNERS = ['all', 'get', 'iterate', 'run'] as const;
type Runner = (...values: unknown[]) => unknown;

/** Records every statement with its values until `end` is called. */
export function recordStatements(): { ran: Ran[]; end(): void } {
  const ran: Ran[] = [];
  const prototype = Object.getPrototypeOf(new Sqlite(':memory:').prepare('SELECT 1')) as Record<string, Runner>;
  const originals = RUNNERS.map((name) => [name, prototype[name] as Runner] as const);
  for (const [name, original] of originals) {
    prototype[name] = function (this: Sqlite.Statement, ...values: unknown[]) {
      ran.push({ text: this.source, values: values.flat() });
      return original.apply(this, values);
    };
  }
  const client = pg.Client.prototype as unknown as Record<'query', Runner>;
  const { query } = client;
  client.query = function (this: pg.Client, ...given: unknown[]) {
    const [text, values] = given as [string | { text: string; values?: unknown[] }, unknown];
    if (typeof text === 'string') ran.push({ text, values: Array.isArray(values) ? values : [] });
    else ran.push({ text: text.text, values: text.values ?? [] });
    return query.apply(this, given);
  };
  return {
    ran,
    end() {
      for (const [name, original] of originals) prototype[name] = original;
      client.query = query;
    },
  };
}

/**
 * Caches queries with constant text, one cache per database: building and compiling a query takes several times as long
 * as running it in SQLite. Use it only for queries that every call runs.
 */
import type { Compilable, CompiledQuery, Kysely } from 'kysely';

export interface Prepared {
  /**
   * The named query with these values, in the order of its text. The name must identify everything that the text
   * depends on.
   */
  compile<Row>(name: string, values: readonly unknown[], build: () => Compilable<Row>): CompiledQuery<Row>;
}

/** One per database. Throws at the first use of a name if the values are not in the order of the text. */
export function createPrepared(): Prepared {
  const kept = new Map<string, CompiledQuery>();
  return {
    compile<Row>(name: string, values: readonly unknown[], build: () => Compilable<Row>): CompiledQuery<Row> {
      const known = kept.get(name) as CompiledQuery<Row> | undefined;
      if (known) return { ...known, parameters: values };
      const query = build().compile();
      const isInOrder =
        query.parameters.length === values.length && query.parameters.every((value, at) => value === values[at]);
      if (!isInOrder) throw new Error(`the values of ${name} are not in the order of its text: ${query.sql}`);
      kept.set(name, query);
      return query;
    },
  };
}

const ofDatabases = new WeakMap<object, Prepared>();

/** The cache of this database. */
export function preparedOf<Tables>(db: Kysely<Tables>): Prepared {
  const prepared = ofDatabases.get(db) ?? createPrepared();
  ofDatabases.set(db, prepared);
  return prepared;
}

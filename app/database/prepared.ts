/**
 * Queries whose text is always the same, built once for each database: to build and compile one costs several times what
 * SQLite takes to run it. Only what every call runs is worth it.
 */
import type { Compilable, CompiledQuery, Kysely } from 'kysely';

export interface Prepared {
  /** The query named, with these values in the order of its text; the name must tell all that the text depends on. */
  compile<Row>(name: string, values: readonly unknown[], build: () => Compilable<Row>): CompiledQuery<Row>;
}

/** One for each database. Throws at the first use of a name where the values are not in the order of the text. */
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

/** The one of this database. */
export function preparedOf<Tables>(db: Kysely<Tables>): Prepared {
  const prepared = ofDatabases.get(db) ?? createPrepared();
  ofDatabases.set(db, prepared);
  return prepared;
}

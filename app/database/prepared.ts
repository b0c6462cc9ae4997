/**
 * Caches statements with constant text: building and compiling a long one takes several times as long as running it in
 * SQLite. Use it only for the journal's statements that every call runs.
 */
import type { Compilable, CompiledQuery } from 'kysely';

export interface Prepared {
  /**
   * The named query with these values, in the order of its text. The name must identify everything that the text
   * depends on.
   */
  compile<Row>(name: string, values: readonly unknown[], build: () => Compilable<Row>): CompiledQuery<Row>;
}

/** Throws at the first use of a name if the values are not in the order of the text. */
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

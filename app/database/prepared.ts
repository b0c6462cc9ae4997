/**
 * Caches statements with constant text: building and compiling a long one takes several times as long as running it in
 * SQLite. Use it only for the journal's statements that every call runs.
 */
import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely';

/** A parameter for each value, by its name. A statement may use them in any order, and any number of times. */
export type Named<Values> = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> };

export type Prepared = ReturnType<typeof createPrepared>;

/** Stands for a value in a compiled statement. */
class Parameter {
  constructor(readonly name: string) {}
}

export function createPrepared() {
  const kept = new Map<string, CompiledQuery>();
  return {
    /**
     * The statement of this name with these values. The name must identify everything that the text depends on, except
     * for the values.
     */
    compile<Row, Values extends object>(
      name: string,
      values: Values,
      build: (named: Named<Values>) => Compilable<Row>,
    ): CompiledQuery<Row> {
      const query = kept.get(name) ?? build(namesOf(values)).compile();
      kept.set(name, query);
      const given = (one: unknown) => (one instanceof Parameter ? values[one.name as keyof Values] : one);
      return { ...(query as CompiledQuery<Row>), parameters: query.parameters.map(given) };
    },
  };
}

const namesOf = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.keys(values).map((name) => [name, sql`${new Parameter(name)}`])) as Named<Values>;

/**
 * A connection of PostgreSQL with the values of SQLite: whole numbers are bigint, texts may contain U+0000. It keeps its
 * statements prepared.
 */
import pg from 'pg';

const CONNECT_MS = 5_000;

/** Maximum number of prepared statements per connection. */
const MAX_NAMED = 400;

/** Numbers of PostgreSQL's types in its catalogue. */
const TYPES = { bytea: 17, int8: 20, int2: 21, int4: 23, text: 25, varchar: 1043, numeric: 1700 } as const;

export function parserOf(type: number, format?: string) {
  if (format === 'binary') return pg.types.getTypeParser(type, 'binary');
  if (type === TYPES.int8 || type === TYPES.int4 || type === TYPES.int2) return BigInt;
  // Sums of bigint are numeric.
  if (type === TYPES.numeric) return (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text));
  if (type === TYPES.text || type === TYPES.varchar) return fromStored;
  return pg.types.getTypeParser(type, 'text');
}

/**
 * Precedes an escaped character. It is in Unicode's private use area, so texts rarely contain it. If they do, it is
 * escaped too.
 */
const ESCAPE = '\uE000';

/** Converts a text to one that PostgreSQL can hold: different texts stay different. */
function toStored(text: string): string {
  if (!text.includes('\0') && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll('\0', `${ESCAPE}0`);
}

/** The inverse of `toStored`. */
function fromStored(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replaceAll(`${ESCAPE}0`, '\0').replaceAll(`${ESCAPE}1`, ESCAPE);
}

const names = new Map<string, string>();
let generation = 0;

/** The name of a text's prepared statement; undefined if there are too many. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= MAX_NAMED) return undefined;
  const name = `s${generation}_${names.size}`;
  names.set(text, name);
  return name;
}

/** If a host such as localhost has several addresses and none answers: the error of one, which has a message. */
const single = (error: Error): Error => (error instanceof AggregateError ? error.errors[0] : error);

/** A connection that keeps its statements prepared, and whose texts may contain U+0000. */
export class Connection extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_MS });
  }

  // biome-ignore lint/suspicious/noExplicitAny: like pg, with or without a callback
  override connect(...[callback]: any[]): any {
    if (callback) return super.connect((error: Error) => callback(error && this.named(error)));
    return super.connect().catch((error) => {
      throw this.named(error);
    });
  }

  /** The system's words do not say whose address it is. Its code stays, by which a fault is temporary. */
  private named(error: Error): Error {
    const one: Error & { code?: string } = single(error);
    if (one.code)
      one.message = `cannot connect to the database ${this.host}:${this.port}/${this.database}: ${one.message}`;
    return one;
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg has many overloads; we send only strings with values
  override query(...given: any[]): any {
    const [text, values, callback] = given;
    // Without values it is BEGIN or a migration, which may have several statements.
    if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) {
      return (super.query as (...all: unknown[]) => unknown)(...given);
    }
    const stored = values.map((value) => (typeof value === 'string' ? toStored(value) : value));
    const named = { name: nameOf(text), text, values: stored };
    const answer = this.queryAgain(named as pg.QueryConfig);
    if (typeof callback !== 'function') return answer;
    answer.then(
      (result) => callback(null, result),
      (error) => callback(error),
    );
  }

  /**
   * A migration by a newer process may change the result of a prepared statement, which must then be prepared again.
   */
  private async queryAgain(query: pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      return await super.query(query);
    } catch (error) {
      if ((error as pg.DatabaseError).code !== '0A000' || !/cached plan/.test(String(error))) throw error;
      names.clear();
      generation += 1;
      return super.query({ text: query.text, values: query.values ?? [] });
    }
  }
}

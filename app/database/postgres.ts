/**
 * Opens PostgreSQL: ledger and index are the schemas `ledger` and `chain` of one database. Statements are those of SQLite,
 * so what the two drivers hand over is made the same here: whole numbers are bigint, bytes are Buffers, and text may hold
 * U+0000, which PostgreSQL's text cannot.
 */
import { createHash } from 'node:crypto';
import { type CompiledQuery, type DatabaseConnection, type Dialect, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { z } from 'zod';
import type { GroupCommit, Written } from './groupCommit.ts';
import type { OpenDatabase } from './open.ts';

/** The schemas of a database by what SQLite keeps in a file each. */
export const SCHEMAS = { index: 'chain', ledger: 'ledger' } as const;
/** Where the index is built anew, beside the present one. */
export const NEW_INDEX = 'chain_new';
export type Schema = (typeof SCHEMAS)[keyof typeof SCHEMAS] | typeof NEW_INDEX;

/**
 * Connections of one pool. An indexer has one pool, a relay three, of which one is divided; `max_connections` must have
 * room for all of them.
 */
export const MAX_CONNECTIONS = 10;
/** Of them those that wait for locks: who stands in line for one must not take the connections of who needs none. */
export const LOCKING_CONNECTIONS = 3;
/** A statement that takes longer holds up its caller for nothing, and so does waiting for a connection to be free. */
const STATEMENT_MS = 30_000;
/** Also where the network swallows the answer: then the connection is given up. */
const ANSWER_MS = STATEMENT_MS + 5_000;
const CONNECT_MS = 5_000;
/** A process that stands still for so long with a lock loses it: all others that claim wait for it. */
const HELD_MS = 5_000;
const BEGIN_HOLDING = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${HELD_MS}`;
/** Texts that a connection keeps prepared. */
const MAX_NAMED = 400;

export interface PostgresOptions {
  /** Tables without a schema's name are of this one. */
  schema: Schema;
  readonly?: boolean;
  /** `off`: commits do not wait for the disk; one that does takes all earlier ones with it, because the log is one. */
  synchronousCommit?: 'on' | 'off';
  max?: number;
  /** Is told of connections that are lost while nobody uses them; they are replaced. */
  onLost?: (error: Error) => void;
  /** Is the first thing in every transaction; where it throws, the transaction is none. */
  onBegin?: (connection: DatabaseConnection) => Promise<void>;
}

export interface OpenedPostgres<Tables> extends OpenDatabase<Tables> {
  pool: pg.Pool;
  run(query: CompiledQuery): Promise<Written>;
  close(): Promise<void>;
}

export const isPostgresUrl = (place: string): boolean => /^postgres(ql)?:\/\//.test(place);

/** `DATABASE_URL` of relay and indexer. What is wrong with one is said without it: it has a password. */
export const databaseUrl = z
  .string()
  .refine(isReadable, {
    error:
      'must be postgres://USER:PASSWORD@HOST:PORT/NAME, in USER and PASSWORD each character but letters, digits and -._~ as %XX',
  })
  .optional();

function isReadable(url: string): boolean {
  try {
    return isPostgresUrl(url) && addressOf(url) !== '';
  } catch {
    return false;
  }
}

/** Host and name of a database, as they may be shown to others: without user and password. */
export function addressOf(url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url });
  return `${host}:${port}/${database}`;
}

/** Opens a pool; nothing is connected until it is used. Throws where the URL is none. */
export function openPostgres<Tables>(url: string, options: PostgresOptions): OpenedPostgres<Tables> {
  const pool = new pg.Pool({ ...connectionOf(url, options), max: options.max ?? MAX_CONNECTIONS, Client: Connection });
  // Without listeners a connection that breaks would end the process.
  pool.on('error', (error) => options.onLost?.(error));
  pool.on('connect', (client) => void client.on('error', () => {}));
  const dialect = new PostgresDialect({ pool });
  const db = new Kysely<Tables>({ dialect: options.onBegin ? beginningWith(dialect, options.onBegin) : dialect });
  return {
    db,
    pool,
    run: (query) => runOn(pool, query),
    close: () => pool.end(),
  };
}

function beginningWith(dialect: PostgresDialect, onBegin: NonNullable<PostgresOptions['onBegin']>): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createDriver() {
      const driver = dialect.createDriver();
      const begin = driver.beginTransaction.bind(driver);
      driver.beginTransaction = async (connection, settings) => {
        await begin(connection, settings);
        try {
          await onBegin(connection);
        } catch (error) {
          await driver.rollbackTransaction(connection);
          throw error;
        }
      };
      return driver;
    },
  };
}

/** One connection that is the caller's own until it ends it, without a limit of time: for locks, notices and migrations. */
export async function connectPostgres(url: string, schema: Schema): Promise<pg.Client> {
  const { statement_timeout, query_timeout, ...unlimited } = connectionOf(url, { schema });
  const client = new Connection(unlimited);
  client.on('error', () => {});
  await client.connect();
  return client;
}

function connectionOf(url: string, { schema, readonly, synchronousCommit }: PostgresOptions): pg.PoolConfig {
  if (!isPostgresUrl(url)) throw new Error('The URL of the database should begin with postgres://');
  const settings = {
    search_path: schema,
    timezone: 'UTC',
    // The statements are short; to compile one costs more than to run it.
    jit: 'off',
    idle_in_transaction_session_timeout: STATEMENT_MS,
    ...(readonly && { default_transaction_read_only: 'on' }),
    ...(synchronousCommit && { synchronous_commit: synchronousCommit }),
  };
  return {
    connectionString: url,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    application_name: `marketplace ${schema}`,
    // Of a pool this is also the time that hundreds at once may stand in line; `Connection` has its own.
    connectionTimeoutMillis: STATEMENT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
  };
}

/** What a statement has done, as SQLite's driver says it. */
async function runOn(on: pg.Pool | pg.PoolClient, { sql, parameters }: CompiledQuery): Promise<Written> {
  const { fields, rows, rowCount } = await on.query(sql, [...parameters]);
  return fields.length > 0 ? { changes: 0, rows } : { changes: rowCount ?? 0, rows: [] };
}

/**
 * Writes of a journal. An intent is one statement that waits for the disk, and PostgreSQL gathers those of all connections
 * for one fsync. A note is one that does not wait; the log is in order, so that the next intent takes it along.
 */
export function createPostgresWrites(intents: pg.Pool, notes: pg.Pool, locking = notes): GroupCommit {
  let commits = 0;
  return {
    async intend(query) {
      const written = await runOn(intents, query);
      commits += 1;
      return written;
    },
    note: (query) => runOn(notes, query),
    // Its log is written by a process of its own.
    room: async () => undefined,
    async alone(locks, queries, begin) {
      const client = await locking.connect();
      let broken = false;
      try {
        await client.query(BEGIN_HOLDING);
        for (const lock of locks) await client.query('SELECT pg_advisory_xact_lock($1)', [lockNumber(lock)]);
        begin?.();
        const written: Written[] = [];
        for (const query of queries) written.push(await runOn(client, query));
        await client.query('COMMIT');
        return written;
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {
          broken = true;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },
    commits: () => commits,
  };
}

/** PostgreSQL's advisory locks have numbers; what two names have in common by chance only makes one wait for the other. */
export function lockNumber(name: string): bigint {
  return createHash('sha256').update(name).digest().readBigInt64BE();
}

/** Numbers of PostgreSQL's types, as its catalogue has them. */
const TYPES = { bytea: 17, int8: 20, int2: 21, int4: 23, text: 25, varchar: 1043, numeric: 1700 } as const;

function parserOf(type: number, format?: string) {
  if (format === 'binary') return pg.types.getTypeParser(type, 'binary');
  if (type === TYPES.int8 || type === TYPES.int4 || type === TYPES.int2) return BigInt;
  // Sums of bigint are numeric.
  if (type === TYPES.numeric) return (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text));
  if (type === TYPES.text || type === TYPES.varchar) return fromStored;
  return pg.types.getTypeParser(type, 'text');
}

/**
 * Stands before what a text must not hold as it is. Of the private use area: texts that hold it are rare, and stay what they
 * are all the same.
 */
const ESCAPE = '\uE000';

/** Text as PostgreSQL can hold it: different texts stay different. */
export function toStored(text: string): string {
  if (!text.includes('\0') && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll('\0', `${ESCAPE}0`);
}

/** The text that `toStored` was given. */
export function fromStored(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replaceAll(`${ESCAPE}0`, '\0').replaceAll(`${ESCAPE}1`, ESCAPE);
}

const names = new Map<string, string>();
let generation = 0;

/** The same name for the same text; none where there are too many, or no values to put in. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= MAX_NAMED) return undefined;
  const name = `s${generation}_${names.size}`;
  names.set(text, name);
  return name;
}

/** Of a host with several addresses, such as localhost, none of which can be reached: the fault of one, which has words. */
const single = (error: Error): Error => (error instanceof AggregateError ? error.errors[0] : error);

/** A connection that keeps its statements prepared, and whose texts may hold U+0000. */
class Connection extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_MS });
  }

  // biome-ignore lint/suspicious/noExplicitAny: with a callback or without, as pg has it
  override connect(...[callback]: any[]): any {
    if (callback) return super.connect((error: Error) => callback(error && single(error)));
    return super.connect().catch((error) => {
      throw single(error);
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of pg are many; strings with values are all that we send
  override query(...given: any[]): any {
    const [text, values, callback] = given;
    // Without values it is BEGIN or a migration, of which some are several statements.
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

  /** A migration by a newer process changes what a prepared statement returns: then it is prepared again. */
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

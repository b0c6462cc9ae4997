/**
 * Opens PostgreSQL: ledger and index are the schemas `ledger` and `chain` of one database. Statements are those of
 * SQLite, so values get the same types here: whole numbers are bigint, bytes are Buffers. Text may contain U+0000,
 * which PostgreSQL's text cannot hold.
 */
import { createHash } from 'node:crypto';
import { type CompiledQuery, type DatabaseConnection, type Dialect, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { z } from 'zod';
import { type GroupCommit, requireOne, type Written } from './groupCommit.ts';
import type { OpenDatabase } from './open.ts';

/** Schema names for the contents of the SQLite files. */
export const SCHEMAS = { index: 'chain', ledger: 'ledger' } as const;
/** Schema in which the index is rebuilt, beside the present one. */
export const NEW_INDEX = 'chain_new';
export type Schema = (typeof SCHEMAS)[keyof typeof SCHEMAS] | typeof NEW_INDEX;

/**
 * Connections of one pool. An indexer has one pool. A relay has three, one of them divided. `max_connections` must
 * allow for all of them.
 */
export const MAX_CONNECTIONS = 10;
/** Connections of the pool reserved for lock waiters, so they cannot exhaust the pool. */
export const LOCKING_CONNECTIONS = 3;
/** Timeout of one statement, and of waiting for a free connection. */
const STATEMENT_MS = 30_000;
/** Timeout of an answer, in case the network loses it. The connection is then closed. */
const ANSWER_MS = STATEMENT_MS + 5_000;
const CONNECT_MS = 5_000;
/** Timeout of a lock whose process is idle in its transaction: other claims wait for the lock. */
const HELD_MS = 5_000;
const BEGIN_HOLDING = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${HELD_MS}`;
const BEGIN_DURABLY = `${BEGIN_HOLDING}; SET LOCAL synchronous_commit = on`;
/** Maximum number of prepared statements per connection. */
const MAX_NAMED = 400;

export interface PostgresOptions {
  /** Schema of tables that are named without one. */
  schema: Schema;
  readonly?: boolean;
  /**
   * `off`: commits do not wait for the disk. A later commit that does also makes them durable, because there is one
   * log.
   */
  synchronousCommit?: 'on' | 'off';
  /**
   * `off`: rows are read by keys. Otherwise a plan made for an empty table scans the whole table, however large it
   * grows.
   */
  seqScans?: 'off';
  max?: number;
  /** Called when an idle connection is lost; the pool replaces it. */
  onLost?: (error: Error) => void;
  /** Runs first in every transaction; if it throws, the transaction fails. */
  onBegin?: (connection: DatabaseConnection) => Promise<void>;
}

export interface OpenedPostgres<Tables> extends OpenDatabase<Tables> {
  pool: pg.Pool;
  run(query: CompiledQuery): Promise<Written>;
  close(): Promise<void>;
}

export const isPostgresUrl = (place: string): boolean => /^postgres(ql)?:\/\//.test(place);

/** `DATABASE_URL` of relay and indexer. Messages about a wrong value do not show it, because it contains a password. */
export const databaseUrl = z
  .string()
  .refine(isReadable, {
    error:
      'must be postgres://USER:PASSWORD@HOST:PORT/NAME, in USER and PASSWORD with every character except letters, digits and -._~ as %XX',
  })
  .optional();

function isReadable(url: string): boolean {
  try {
    return isPostgresUrl(url) && addressOf(url) !== '';
  } catch {
    return false;
  }
}

/** Host and name of a database, without user and password, safe to show. */
export function addressOf(url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url });
  return `${host}:${port}/${database}`;
}

/** For programs of PostgreSQL: the address without its password, which a list of processes would show; it is in `env`. */
export function withoutPassword(
  url: string,
  environment: NodeJS.ProcessEnv,
): { address: string; env: NodeJS.ProcessEnv } {
  const [, start, password, rest] = /^(\w+:\/\/[^:@/]*):([^@/]*)(@.*)$/.exec(url) ?? [];
  if (password === undefined) return { address: url, env: environment };
  return { address: `${start}${rest}`, env: { ...environment, PGPASSWORD: decodeURIComponent(password) } };
}

/** Opens a pool; it connects on first use. Throws if the URL is invalid. */
export function openPostgres<Tables>(url: string, options: PostgresOptions): OpenedPostgres<Tables> {
  const pool = new pg.Pool({ ...connectionOf(url, options), max: options.max ?? MAX_CONNECTIONS, Client: Connection });
  // Without listeners, a broken connection would end the process.
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

/** One connection that the caller owns and ends, without timeouts: for locks, notices and migrations. */
export async function connectPostgres(url: string, schema: Schema): Promise<pg.Client> {
  const { statement_timeout, query_timeout, ...unlimited } = connectionOf(url, { schema });
  const client = new Connection(unlimited);
  client.on('error', () => {});
  await client.connect();
  return client;
}

function connectionOf(url: string, { schema, readonly, synchronousCommit, seqScans }: PostgresOptions): pg.PoolConfig {
  if (!isPostgresUrl(url)) throw new Error('The URL of the database should begin with postgres://');
  const settings = {
    search_path: schema,
    timezone: 'UTC',
    // Statements are short: compiling one costs more than running it.
    jit: 'off',
    idle_in_transaction_session_timeout: STATEMENT_MS,
    ...(readonly && { default_transaction_read_only: 'on' }),
    ...(synchronousCommit && { synchronous_commit: synchronousCommit }),
    ...(seqScans && { enable_seqscan: seqScans }),
  };
  return {
    connectionString: url,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    application_name: `marketplace ${schema}`,
    // In a pool this also limits the wait for a free connection, which is long when hundreds wait at once. `Connection`
    // has its own timeout for connecting.
    connectionTimeoutMillis: STATEMENT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
  };
}

/** Runs a statement; the result has the form of SQLite's driver. */
async function runOn(on: pg.Pool | pg.PoolClient, { sql, parameters }: CompiledQuery): Promise<Written> {
  const { fields, rows, rowCount } = await on.query(sql, [...parameters]);
  return fields.length > 0 ? { changes: 0, rows } : { changes: rowCount ?? 0, rows: [] };
}

/**
 * Writes of a journal. An intent waits for the disk; PostgreSQL combines the intents of all connections into one fsync. A
 * note does not wait. The log is ordered, so the next intent makes it durable.
 */
export function createPostgresWrites(intents: pg.Pool, notes: pg.Pool, locking = notes): GroupCommit {
  let commits = 0;
  const write = async (pool: pg.Pool, [query, ...more]: readonly CompiledQuery[]): Promise<Written> =>
    more.length === 0 ? runOn(pool, query!) : (await runTogether(pool, 'BEGIN', [], [query!, ...more]))[0]!;
  return {
    async intend(...queries) {
      const written = await write(intents, queries);
      commits += 1;
      return written;
    },
    async intendAll(queries) {
      await runTogether(intents, 'BEGIN', [], queries, requireOne);
      commits += 1;
    },
    note: (...queries) => write(notes, queries),
    alone: (locks, queries, isDurable = false) =>
      runTogether(locking, isDurable ? BEGIN_DURABLY : BEGIN_HOLDING, locks, queries),
    commits: () => commits,
  };
}

/** Runs the statements in one transaction that holds the locks. */
async function runTogether(
  pool: pg.Pool,
  begin: string,
  locks: readonly string[],
  queries: readonly CompiledQuery[],
  check: (written: Written, index: number) => Written = (written) => written,
): Promise<Written[]> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query(begin);
    for (const lock of locks) await client.query('SELECT pg_advisory_xact_lock($1)', [lockNumber(lock)]);
    const written: Written[] = [];
    for (const [index, query] of queries.entries()) written.push(check(await runOn(client, query), index));
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
}

/** The number of an advisory lock. If two names collide by chance, they only share a lock. */
export function lockNumber(name: string): bigint {
  return createHash('sha256').update(name).digest().readBigInt64BE();
}

/** Numbers of PostgreSQL's types in its catalogue. */
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
 * Precedes an escaped character. It is in Unicode's private use area, so texts rarely contain it. If they do, it is
 * escaped too.
 */
const ESCAPE = '\uE000';

/** Converts a text to one that PostgreSQL can hold: different texts stay different. */
export function toStored(text: string): string {
  if (!text.includes('\0') && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll('\0', `${ESCAPE}0`);
}

/** The inverse of `toStored`. */
export function fromStored(text: string): string {
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
class Connection extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_MS });
  }

  // biome-ignore lint/suspicious/noExplicitAny: like pg, with or without a callback
  override connect(...[callback]: any[]): any {
    if (callback) return super.connect((error: Error) => callback(error && single(error)));
    return super.connect().catch((error) => {
      throw single(error);
    });
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

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
import { Connection, parserOf } from './postgresConnection.ts';

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

/** Timeout of a lock whose process is idle in its transaction: other claims wait for the lock. */
const HELD_MS = 5_000;
const BEGIN_HOLDING = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${HELD_MS}`;
const BEGIN_DURABLY = `${BEGIN_HOLDING}; SET LOCAL synchronous_commit = on`;

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
    underLocks: (locks, queries, isDurable = false) =>
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

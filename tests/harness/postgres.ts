/**
 * A PostgreSQL server for the tests of this process, with fresh databases. Its text collation differs from byte order,
 * so that tests detect columns that forget to request byte order.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIGRATIONS, migratePostgres } from '../../app/database/migrate.ts';
import { SCHEMAS } from '../../app/database/postgres.ts';
import * as own from '../../app/local/postgres.ts';
import { freePort } from './freePort.ts';

export const { administer } = own;

/** The database of the suites: PostgreSQL if `DATABASE=postgres`, else SQLite. */
export const onPostgres = process.env.DATABASE === 'postgres';

const TEMPLATE = 'migrated';
/** Data need not survive a power cut. The collation differs from byte order. */
const INITDB = ['--no-sync', '--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US'];

export interface PostgresServer extends own.PostgresServer {
  /** Stops it and deletes its data. */
  remove(): Promise<void>;
}

/** Starts a server with an empty folder on a free loopback port. `settings` are lines of postgresql.conf. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const parent = mkdtempSync(join(tmpdir(), 'marketplace-postgres-'));
  const folder = join(parent, 'data');
  const port = await freePort();
  const server = await own.startPostgres({ folder, port, initdb: INITDB, settings: ['fsync=off', ...settings] });
  // Also kills servers that were not removed.
  process.once('exit', () => {
    try {
      process.kill(Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL');
    } catch {}
    rmSync(parent, { recursive: true, force: true, maxRetries: 3 });
  });
  return {
    ...server,
    async remove() {
      await server.kill();
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

let shared: Promise<PostgresServer> | null = null;
let made = 0;

/** The server shared by all tests of this process. */
export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= startShared();
  return shared;
}

async function startShared(): Promise<PostgresServer> {
  const server = await startPostgres(['max_connections=300', 'full_page_writes=off']);
  await administer(server, `CREATE DATABASE ${TEMPLATE}`);
  const url = server.url(TEMPLATE);
  await migratePostgres(url, SCHEMAS.index, MIGRATIONS.index);
  await migratePostgres(url, SCHEMAS.ledger, MIGRATIONS.ledger);
  return server;
}

async function create(kind: string, options = ''): Promise<string> {
  const server = await sharedPostgres();
  made += 1;
  const name = `${kind}_${process.pid}_${made}`;
  await administer(server, `CREATE DATABASE ${name} ${options}`);
  return server.url(name);
}
/** Creates a database with both schemas and all migrations, without rows. Returns its URL. */
export const freshPostgres = (): Promise<string> => create('test', `TEMPLATE ${TEMPLATE} STRATEGY file_copy`);

/** Creates a database without schemas. */
export const emptyPostgres = (): Promise<string> => create('empty');

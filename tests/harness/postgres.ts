/**
 * One PostgreSQL for the tests of this process, and databases on it that are as good as new. Its order of text is not that
 * of bytes, so that a table which forgets to ask for that is found out.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIGRATIONS, migratePostgres } from '../../app/database/migrate.ts';
import { SCHEMAS } from '../../app/database/postgres.ts';
import * as own from '../../app/local/postgres.ts';
import { freePort } from './freePort.ts';

export const { administer } = own;

/** Which database the suites run on: `DATABASE=postgres`, or SQLite. */
export const onPostgres = process.env.DATABASE === 'postgres';

const TEMPLATE = 'migrated';
/** Nothing has to outlive a power cut, and the order of text is not that of bytes. */
const INITDB = ['--no-sync', '--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US'];

export interface PostgresServer extends own.PostgresServer {
  /** Stops it and deletes its data. */
  remove(): Promise<void>;
}

/** Starts one on a free port of the loopback, with an empty folder. `settings` are lines of postgresql.conf. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const parent = mkdtempSync(join(tmpdir(), 'marketplace-postgres-'));
  const folder = join(parent, 'data');
  const port = await freePort();
  const server = await own.startPostgres({ folder, port, initdb: INITDB, settings: ['fsync=off', ...settings] });
  // Whoever does not remove it ends with it: the server stops by itself where its files are gone.
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

/** The server of all tests of this process. */
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

/** The URL of a database of the test's own with both schemas, all migrations applied, and no rows. */
export async function freshPostgres(): Promise<string> {
  const server = await sharedPostgres();
  made += 1;
  const name = `test_${process.pid}_${made}`;
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY file_copy`);
  return server.url(name);
}

/** Another database with the rows of the one at `url`, which nobody uses any more. */
export async function copyPostgres(url: string): Promise<string> {
  const server = await sharedPostgres();
  made += 1;
  const name = `copy_${process.pid}_${made}`;
  const template = new URL(url).pathname.slice(1);
  await administer(
    server,
    // A process that was killed a moment ago may still have connections.
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${template}'`,
    `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`,
  );
  return server.url(name);
}

/** A database in which nobody has made a schema. */
export async function emptyPostgres(): Promise<string> {
  const server = await sharedPostgres();
  made += 1;
  const name = `empty_${process.pid}_${made}`;
  await administer(server, `CREATE DATABASE ${name}`);
  return server.url(name);
}

/**
 * One PostgreSQL for the tests of this process, and databases on it that are as good as new. Its order of text is not that
 * of bytes, so that a table which forgets to ask for that is found out.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { MIGRATIONS, migratePostgres } from '../../app/database/migrate.ts';
import { SCHEMAS } from '../../app/database/postgres.ts';

/** Which database the suites run on: `DATABASE=postgres`, or SQLite. */
export const onPostgres = process.env.DATABASE === 'postgres';

const TEMPLATE = 'migrated';
/** A standing server is slow on a busy machine; whoever waits longer waits for nothing. */
const START_MS = 60_000;

export interface PostgresServer {
  /** The URL of one of its databases. */
  url(database: string): string;
  /** Starts it again on the same data and port, after `kill` or `stop`. */
  start(): Promise<void>;
  /** As a crash of the machine's process does: nothing is said to anybody. */
  kill(): Promise<void>;
  /** As an administrator does it, `fast`: everybody is told. */
  stop(): Promise<void>;
  /** Stops it and deletes its data. */
  remove(): Promise<void>;
}

/** Where Debian puts the newest PostgreSQL. */
export function postgresFolder(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  if (!versions[0]) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  return join(root, versions[0], 'bin');
}

/** PostgreSQL refuses to run as root, and then runs as the user that Debian made for it. */
function whoRunsIt(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Starts one on a free port of the loopback, with an empty folder. `settings` are lines of postgresql.conf. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const bin = postgresFolder();
  const who = whoRunsIt();
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-postgres-'));
  if (who.uid !== undefined) chownSync(folder, who.uid, who.gid as number);
  const data = join(folder, 'data');
  const locale = ['--encoding=UTF8', '--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US'];
  const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' };
  const init = ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', ...locale];
  execFileSync(join(bin, 'initdb'), init, { ...who, cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const port = await freePort();
  const lines = ['fsync=off', 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, ...settings];
  const argv = ['-D', data, '-p', String(port), ...lines.flatMap((line) => ['-c', line])];
  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    // The shell ends with our end of its input, however we end, and takes the server with it.
    const script = '"$@" & server=$!; (read _; kill -INT $server) <&3 & wait $server';
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe'] as const;
    const started = spawn('sh', ['-c', script, 'sh', join(bin, 'postgres'), ...argv], {
      ...who,
      cwd: folder,
      env,
      stdio: [...stdio],
    });
    child = started;
    const end = Date.now() + START_MS;
    while (!(await answers(url('postgres')))) {
      if (started.exitCode !== null) throw new Error(`PostgreSQL ended with ${started.exitCode} (${folder})`);
      if (Date.now() > end) throw new Error('PostgreSQL did not start');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function signal(name: NodeJS.Signals): Promise<void> {
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child?.once('exit', resolve));
    const server = Number(execFileSync('head', ['-n1', join(data, 'postmaster.pid')], { encoding: 'utf8' }));
    process.kill(server, name);
    await ended;
    child = null;
  }

  await start();
  const server = { url, start, kill: () => signal('SIGKILL'), stop: () => signal('SIGINT') };
  return {
    ...server,
    async remove() {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Runs statements that are no transaction's, on the server's own database. */
export async function administer(server: PostgresServer, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
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

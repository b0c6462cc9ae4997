/**
 * A private PostgreSQL from the system's binaries, for `npm start -- --postgres` and tests. It ends with this process
 * in every case, and its folder stays.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Refusal } from '../sdk/wallet/refusal.ts';

const OLDEST = 13;
const DEBIAN = '/usr/lib/postgresql';
const SUPERUSER = 'postgres';
type StdioValue = 'ignore' | 'pipe' | number;
/** Part of the socket's name; no TCP port is used. */
const SOCKET_PORT = 5432;
/** Maximum length of a socket's path. */
const SOCKET_BYTES = 107;
/** Timeout of the start, long enough for a busy machine. */
const START_MS = 60_000;
/** Time for the server of a killed process to end after its SIGINT. After that it gets SIGQUIT. */
const LEFTOVER_MS = 10_000;
const POLL_MS = 50;
/** Number of log lines in the error message if the server does not start. */
const TOLD_LINES = 5;

export interface PostgresPlace {
  /** Folder of its data, created if missing. */
  folder: string;
  /**
   * TCP port on the loopback; without one it listens only on a socket in the folder. Anyone who can connect has all
   * rights.
   */
  port?: number;
  /** Further arguments of initdb, and lines of postgresql.conf. */
  initdb?: readonly string[];
  settings?: readonly string[];
  /** Called when the server has ended for any reason. */
  onEnd?(end: string): void;
}

export interface PostgresServer {
  /** The URL of one of its databases. */
  url(database: string): string;
  /** Starts it again on the same data and port, after `kill` or `stop`. */
  start(): Promise<void>;
  /** Ends it like a crash: clients are not informed. */
  kill(): Promise<void>;
  /** Ends it as an administrator does, in mode `fast`: clients are informed. */
  stop(): Promise<void>;
}

/** Folders where a system may have installed binaries. */
function installed(): string[] {
  const places = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((name) => join(DEBIAN, name, 'bin')) : [];
  try {
    places.push(ask('pg_config', '--bindir'));
  } catch {}
  return places;
}

/** Folder of the binaries: of this version, else the newest. Throws Refusal that says what to install. */
export function postgresFolder(version?: number, places = installed()): string {
  const found = places
    .filter((bin) => ['postgres', 'initdb'].every((name) => existsSync(join(bin, name))))
    .map((bin) => ({ bin, version: versionOf(bin) }))
    .filter((one) => (version === undefined ? one.version >= OLDEST : one.version === version))
    .sort((a, b) => b.version - a.version);
  if (found[0]) return found[0].bin;
  throw new Refusal(
    version === undefined
      ? `PostgreSQL ${OLDEST} or newer is not installed here. On Debian or Ubuntu: apt-get install postgresql; on macOS: ` +
          'brew install postgresql'
      : `The data in this folder needs PostgreSQL ${version}, which is not installed here. On Debian or Ubuntu: apt-get install ` +
          `postgresql-${version}`,
  );
}

const versionOf = (bin: string): number => Number(/\d+/.exec(ask(join(bin, 'postgres'), '--version'))?.[0]);

function ask(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** PostgreSQL refuses to run as root, so it then runs as the user that its package created. */
function whoRunsIt(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  try {
    return { uid: Number(ask('id', '-u', SUPERUSER)), gid: Number(ask('id', '-g', SUPERUSER)) };
  } catch {
    throw new Refusal(
      `PostgreSQL does not run as root, and this computer has no user ${SUPERUSER}. Start as another user.`,
    );
  }
}

/**
 * Starts it. Throws Refusal if PostgreSQL is missing, or if the folder is not usable. Only one process at a time may do
 * this for one folder.
 */
export async function startPostgres(place: PostgresPlace): Promise<PostgresServer> {
  const { folder, port } = place;
  const who = whoRunsIt();
  const socketPath = join(folder, `.s.PGSQL.${SOCKET_PORT}`);
  if (port === undefined && Buffer.byteLength(socketPath) > SOCKET_BYTES) {
    throw new Refusal(
      `${socketPath} is too long for a socket path (at most ${SOCKET_BYTES} bytes). Choose a folder with a shorter path.`,
    );
  }
  // The folder appears only when it is complete.
  if (!existsSync(folder)) await makeCluster(place, who);
  const bin = postgresFolder(Number(readFileSync(join(folder, 'PG_VERSION'), 'utf8')));
  const url = (database: string) =>
    port === undefined
      ? `postgres://${SUPERUSER}@localhost:${SOCKET_PORT}/${database}?host=${encodeURIComponent(folder)}`
      : `postgres://${SUPERUSER}@127.0.0.1:${port}/${database}`;
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    await outlive(folder);
    const reached = reach(folder, who);
    const lines = [
      port === undefined ? 'listen_addresses=' : 'listen_addresses=127.0.0.1',
      `unix_socket_directories=${reached.path}`,
      `port=${port ?? SOCKET_PORT}`,
      'timezone=UTC',
      ...(place.settings ?? []),
    ];
    const command = [join(bin, 'postgres'), '-D', reached.path, ...lines.flatMap((line) => ['-c', line])];
    const log = openSync(`${folder}.log`, 'a', 0o600);
    const started = spawnTied(command, reached, [log, log]);
    closeSync(log);
    child = started;
    started.once('exit', (code, signal) => {
      child = null;
      place.onEnd?.(signal ? `signal ${signal}` : `exit code ${code}`);
    });
    const end = Date.now() + START_MS;
    while (!(await answers(url('postgres')))) {
      if (child !== started) throw new Refusal(`PostgreSQL does not start:\n${lastLines(`${folder}.log`)}`);
      if (Date.now() > end) throw new Error(`PostgreSQL did not start; see ${folder}.log`);
      await delay(POLL_MS);
    }
  }

  async function signal(name: NodeJS.Signals): Promise<void> {
    if (!child) return;
    const ended = once(child, 'exit');
    const pid = serverOf(folder);
    if (pid !== null) process.kill(pid, name);
    await ended;
  }

  await start();
  return { url, start, kill: () => signal('SIGKILL'), stop: () => signal('SIGINT') };
}

interface Reached {
  who: { uid?: number; gid?: number };
  path: string;
  fd: number;
}

/**
 * Opens a folder, so that another user can reach it through the descriptor even if its path is closed to that user, as
 * in /root.
 */
function reach(folder: string, who: Reached['who']): Reached {
  const isOurs = who.uid === undefined || !existsSync('/proc/self/fd');
  return { who, path: isOurs ? folder : '/proc/self/fd/4', fd: openSync(folder, 'r') };
}

/** Runs a command that gets SIGINT when this process ends in any way. Closes `fd` here after the command has it. */
function spawnTied(command: string[], { who, fd }: Reached, outputs: [StdioValue, StdioValue]): ChildProcess {
  // The shell notices that this process has ended when its input closes.
  const script =
    '"$@" & child=$!; (read _; kill -INT $child) <&3 & reader=$!; wait $child; code=$?; kill $reader; exit $code';
  const child = spawn('sh', ['-c', script, 'sh', ...command], {
    ...who,
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: process.platform === 'darwin' ? 'C' : 'C.UTF-8' },
    stdio: ['ignore', ...outputs, 'pipe', fd],
    // A terminal's Ctrl-C must not reach it: others need it while they shut down.
    detached: true,
  });
  closeSync(fd);
  child.once('exit', () => child.stdio[3]?.destroy());
  return child;
}

async function makeCluster({ folder, initdb = [] }: PostgresPlace, who: { uid?: number; gid?: number }): Promise<void> {
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  if (who.uid !== undefined && who.gid !== undefined) chownSync(draft, who.uid, who.gid);
  const reached = reach(draft, who);
  const args = ['-D', reached.path, '-U', SUPERUSER, '--auth=trust', '--encoding=UTF8', ...initdb];
  const child = spawnTied([join(postgresFolder(), 'initdb'), ...args], reached, ['ignore', 'pipe']);
  const [told, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, 'close')]);
  if (code !== 0) throw new Refusal(`PostgreSQL could not create its folder ${draft}:\n${told}`);
  renameSync(draft, folder);
}

/** The process in the folder's pid file, which may have ended. */
function serverOf(folder: string): number | null {
  const path = join(folder, 'postmaster.pid');
  return existsSync(path) ? Number(readFileSync(path, 'utf8').split('\n')[0]) : null;
}

/**
 * Waits until no process uses the folder: neither the server of a killed process, nor children of a killed server. A
 * stale pid file may name another process that got the same number. PostgreSQL would take that process for its own, so
 * the file is then removed.
 */
async function outlive(folder: string): Promise<void> {
  // Without /proc, only PostgreSQL's own checks remain.
  if (!existsSync('/proc')) return;
  const real = realpathSync(folder);
  const end = Date.now() + LEFTOVER_MS;
  for (;;) {
    const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
    const left = pids.map(Number).filter((pid) => cwdOf(pid) === real);
    if (left.length === 0) return rmSync(join(folder, 'postmaster.pid'), { force: true });
    // SIGQUIT ends it without a checkpoint; the next start recovers.
    if (Date.now() > end) for (const pid of left) process.kill(pid, 'SIGQUIT');
    await delay(POLL_MS);
  }
}

/** Also null for a process that has ended, or that belongs to another user. */
function cwdOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
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

function lastLines(path: string): string {
  return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-TOLD_LINES).join('\n');
}

/** Runs statements outside a transaction, on the server's own database; returns the rows of the last. */
export async function administer(server: Pick<PostgresServer, 'url'>, ...statements: string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

/**
 * `npm run relay -- backup` copies the ledger at one moment, while relays go on writing it: compressed, into a folder
 * that keeps the newest copies. A command of the operator's then takes the folder to another machine. A file gets its
 * name only when it is complete.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Command } from 'commander';
import { requireLock } from '../../database/lock.ts';
import { addressOf, SCHEMAS, withoutPassword } from '../../database/postgres.ts';
import { freeBytes } from '../../process/disk.ts';
import { runPiped } from '../../process/pipe.ts';
import { type DatabasePlace, ledgerPath, openViews } from './open.ts';

/** Pages copied between two reports of progress: 4 MiB. */
const PAGES_PER_STEP = 1_024;
/** A folder inside of the backups' for unfinished files. Nothing in it is kept. */
const WORK = '.work';
/** `ledger-20260131T120000Z.sqlite.zst`: the moment, and the database that can read it. */
const NAME = /^ledger-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.(sqlite|postgres)\.zst$/;

export interface BackupSettings {
  /** Folder of the backups. */
  dir: string;
  /** Number of the newest ones that stay in it. */
  keep: number;
  /** Run by a shell after each backup; null: none. */
  command: string | null;
  /** For the programs that make a backup and take it away. */
  environment: NodeJS.ProcessEnv;
  /** Bytes that stay free beside the ledger: with less, the relay refuses new calls. */
  minFreeBytes: number;
}

export interface Backup {
  path: string;
  /** The copied ledger has everything from before, and may have some of what came later. */
  madeAt: Date;
  database: 'sqlite' | 'postgres';
  bytes: number;
}

interface MadeBackup extends Backup {
  /** Older ones that were removed. */
  removed: string[];
}

/** The backups in a folder, newest first. */
export function listBackups(dir: string): Backup[] {
  return (existsSync(dir) ? readdirSync(dir) : [])
    .filter((name) => NAME.test(name))
    .sort()
    .reverse()
    .map((name) => readBackup(join(dir, name)));
}

/** What a backup's name says. Throws if it is another file. */
export function readBackup(path: string): Backup {
  const [, year, month, day, hour, minute, second, database] = NAME.exec(path.slice(path.lastIndexOf('/') + 1)) ?? [];
  if (!database)
    throw new Error(`${path} does not have the name of a backup, such as ledger-20260131T120000Z.sqlite.zst.`);
  if (!existsSync(path)) throw new Error(`${path} does not exist.`);
  const madeAt = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return { path, madeAt, database: database as Backup['database'], bytes: statSync(path).size };
}

/** Runs `work` with an empty folder for unfinished files, which only one process has at a time. */
export async function withWorkFolder<Result>(dir: string, work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = join(dir, WORK);
  const lock = requireLock(
    join(dir, '.lock'),
    (holder) => `Another backup or drill works in ${dir}${holder}. Wait until it has ended.`,
  );
  // A killed process left its files.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    lock.release();
  }
}

/** Makes a backup, then removes the oldest. If the making fails, it throws and leaves nothing new behind. */
export function backUp(
  place: DatabasePlace,
  { dir, keep, environment, minFreeBytes }: BackupSettings,
  report: (done: number, total: number) => void = () => undefined,
): Promise<MadeBackup> {
  return withWorkFolder(dir, async (folder) => {
    const database = place.databaseUrl === null ? 'sqlite' : 'postgres';
    const moment = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
    const draft = join(folder, 'draft.zst');
    if (place.databaseUrl === null) {
      const ledger = ledgerPath(place.dataDir);
      if (!existsSync(ledger)) throw new Error(`The ledger ${ledger} does not exist. Set DATA_DIR to its folder.`);
      await requireRoom(folder, statSync(ledger).size, minFreeBytes);
      await copyFile(ledger, folder, draft, report);
    } else await dumpSchema(place.databaseUrl, environment, draft);
    sync(draft);
    const path = join(dir, `ledger-${moment}.${database}.zst`);
    renameSync(draft, path);
    sync(dir);
    const old = listBackups(dir).slice(keep);
    for (const one of old) rmSync(one.path);
    return { ...readBackup(path), removed: old.map((one) => one.path) };
  });
}

const compress = { command: 'zstd', args: ['-q', '-c'], from: 'zstd' };

async function copyFile(
  ledger: string,
  folder: string,
  draft: string,
  report: (done: number, total: number) => void,
): Promise<void> {
  const copy = join(folder, 'ledger.db');
  closeSync(openSync(copy, 'wx', 0o600));
  const source = new Sqlite(ledger, { readonly: true, fileMustExist: true });
  try {
    let least = Number.POSITIVE_INFINITY;
    await source.backup(copy, {
      progress({ totalPages, remainingPages }) {
        report(totalPages - remainingPages, totalPages);
        // SQLite starts over whenever the relay writes between two steps. Taking the whole rest in one step ends that.
        if (remainingPages > least) return totalPages;
        least = remainingPages;
        return PAGES_PER_STEP;
      },
    });
  } finally {
    source.close();
  }
  inspectCopy(copy);
  await runPiped([compress], { input: copy, output: draft });
}

/** On the relay's own disk, a copy that fills it would stop new calls. A compressed copy is smaller than the ledger. */
async function requireRoom(folder: string, ledgerBytes: number, minFreeBytes: number): Promise<void> {
  const free = await freeBytes(folder);
  if (free < 2 * ledgerBytes + minFreeBytes)
    throw new Error(
      `${folder} has ${free} bytes free. A backup needs twice the ledger's ${ledgerBytes} for a moment, beside the ${minFreeBytes} of MIN_FREE_BYTES. Free space, or set BACKUP_DIR to a folder on another disk.`,
    );
}

/** Makes the copy a single file, and throws if SQLite finds it damaged. */
export function inspectCopy(path: string): void {
  const copy = new Sqlite(path);
  try {
    copy.pragma('journal_mode = DELETE');
    const verdict = copy.pragma('integrity_check', { simple: true });
    if (verdict !== 'ok') throw new Error(`the copy is damaged, so the ledger may be damaged too: ${verdict}`);
  } finally {
    copy.close();
  }
}

async function dumpSchema(url: string, environment: NodeJS.ProcessEnv, draft: string): Promise<void> {
  // Throws if the database cannot be reached, or has no ledger.
  await (await openViews({ dataDir: '', databaseUrl: url })).close();
  const { address, env } = withoutPassword(url, environment);
  const args = ['--format=custom', '--compress=0', `--schema=${SCHEMAS.ledger}`, `--dbname=${address}`];
  const dump = { command: 'pg_dump', args, env, from: 'postgresql-client' };
  await runPiped([dump, compress], { output: draft });
}

/** Writes a file, or the names in a folder, to the disk. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Of `backup`, if the backup is complete but was not taken away: a further one would not help. */
const EXIT_NOT_TAKEN = 3;

/** Runs the operator's command, with its output on stderr. Says so and sets the exit code if it fails. */
async function takeAway({ dir, command, environment }: BackupSettings, path: string): Promise<void> {
  if (command === null) return;
  const env = { ...environment, BACKUP_DIR: dir, BACKUP_FILE: path };
  const [code, signal] = await once(spawn('sh', ['-c', command], { env, stdio: ['ignore', 2, 2] }), 'close');
  if (code === 0) return;
  console.error(`${path} is complete, but BACKUP_COMMAND ended with ${signal ?? `exit code ${code}`}.`);
  process.exitCode = EXIT_NOT_TAKEN;
}

export type BackupPlaces = DatabasePlace & { backup: BackupSettings; workingFolder: string };

/** `readPlaces` is called when the command runs. */
export function addBackupCommand(program: Command, readPlaces: () => BackupPlaces): void {
  program
    .command('backup')
    .description(
      'Copies the ledger into BACKUP_DIR, compressed, removes the oldest copies, and runs BACKUP_COMMAND. The relay can keep running.',
    )
    .option('--json', 'print one JSON object and no progress')
    .action(async ({ json }: { json?: true }) => {
      const { backup, ...place } = readPlaces();
      mkdirSync(backup.dir, { recursive: true, mode: 0o700 });
      const shows = !json && process.stderr.isTTY;
      const made = await backUp(place, backup, (done, total) => {
        if (shows) process.stderr.write(`\r${done} of ${total} pages`);
      });
      if (shows) process.stderr.write('\r');
      const { path: file, madeAt, bytes, removed } = made;
      const from = place.databaseUrl === null ? ledgerPath(place.dataDir) : addressOf(place.databaseUrl);
      if (json) console.log(JSON.stringify({ file, made_at: madeAt.toISOString(), bytes, removed }));
      else console.log(`${file}: ${bytes} bytes, of ${from}; ${removed.length} older removed`);
      await takeAway(backup, file);
    });
}

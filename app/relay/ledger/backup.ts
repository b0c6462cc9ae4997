/**
 * `npm run relay -- backup FILE`: a copy of the ledger as it is at one moment, while the relay goes on writing it. The
 * file appears under its name only when it is whole and checked.
 */
import { closeSync, existsSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Command } from 'commander';
import { type DatabasePlace, indexPath, ledgerPath } from './open.ts';

/** Copied between two reports of progress: 4 MiB. */
const PAGES_PER_STEP = 1_024;
const POSTGRES_HAS_ITS_OWN =
  'The ledger is in PostgreSQL (DATABASE_URL): pg_dump --schema=ledger copies it while relays run; docs/operating.md says how';
/** Callers' tasks and results are in it: for its owner only. */
const PRIVATE = 0o600;

/** Where the relay's own files are, all absolute. */
export interface OwnFiles {
  ledger: string;
  index: string;
}

export interface BackupResult {
  /** Absolute. */
  file: string;
  bytes: number;
  executions: number;
  results: number;
  api_keys: number;
  metadata: number;
}

/**
 * Copies `ledger` to `file`, which is replaced if it exists. `report` is given the pages copied so far and their number.
 * Throws, and leaves nothing behind, where the copy cannot be made or is not sound.
 */
export async function backUp(
  ledger: string,
  file: string,
  report: (done: number, total: number) => void = () => undefined,
): Promise<BackupResult> {
  const partial = join(dirname(file), `.${basename(file)}.${process.pid}.partial`);
  const source = new Sqlite(ledger, { readonly: true, fileMustExist: true });
  try {
    closeSync(openSync(partial, 'wx', PRIVATE));
    let least = Number.POSITIVE_INFINITY;
    await source.backup(partial, {
      progress({ totalPages, remainingPages }) {
        report(totalPages - remainingPages, totalPages);
        // Whenever the relay writes between two steps, SQLite starts over; taking all the rest at once ends that.
        if (remainingPages > least) return totalPages;
        least = remainingPages;
        return PAGES_PER_STEP;
      },
    });
    const counts = inspect(partial);
    sync(partial);
    renameSync(partial, file);
    sync(dirname(file));
    return { file, bytes: statSync(file).size, ...counts };
  } finally {
    source.close();
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(partial + suffix, { force: true });
  }
}

/** Makes the copy a single file, and throws where SQLite finds it damaged. */
function inspect(path: string) {
  const copy = new Sqlite(path);
  try {
    copy.pragma('journal_mode = DELETE');
    const verdict = copy.pragma('integrity_check', { simple: true });
    if (verdict !== 'ok') throw new Error(`the copy is damaged, and so may the ledger be: ${verdict}`);
    const count = (table: string) => Number(copy.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
    return {
      executions: count('executions'),
      results: count('results'),
      api_keys: count('api_keys'),
      // Some still wait for their listing, or to be moved because it is there.
      metadata: count('metadata') + count('pending_metadata'),
    };
  } finally {
    copy.close();
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Throws where a backup cannot be written to `file`, or would replace one of the relay's own files. */
export function checkTarget(file: string, own: OwnFiles): void {
  if (!existsSync(dirname(file))) throw new Error(`There is no folder ${dirname(file)}`);
  if (existsSync(file) && statSync(file).isDirectory()) throw new Error(`${file} is a folder; name a file in it`);
  const target = join(realpathSync(dirname(file)), basename(file));
  for (const path of [own.ledger, own.index].filter(existsSync)) {
    for (const suffix of ['', '-wal', '-shm']) {
      if (target === realpathSync(path) + suffix) throw new Error(`${file} is the relay's own file; choose another`);
    }
  }
}

/** `readPlaces` says where the files are, and where relative paths begin; it is called when the command runs. */
export function addBackupCommand(program: Command, readPlaces: () => DatabasePlace & { workingFolder: string }): void {
  program
    .command('backup')
    .description("Copies the ledger to a file, also while the relay runs. DATA_DIR is the ledger's folder.")
    .argument('<file>', 'the copy; one that exists is replaced once the new one is whole and checked')
    .option('--json', 'print one JSON object and no progress')
    .action(async (name: string, { json }: { json?: true }) => {
      const { dataDir, databaseUrl, workingFolder } = readPlaces();
      if (databaseUrl !== null) throw new Error(POSTGRES_HAS_ITS_OWN);
      const [ledger, index] = [ledgerPath(dataDir), indexPath(dataDir)];
      if (!existsSync(ledger)) throw new Error(`There is no ledger at ${ledger}; DATA_DIR names its folder`);
      const file = resolve(workingFolder, name);
      checkTarget(file, { ledger, index });
      const shows = !json && process.stderr.isTTY;
      const made = await backUp(ledger, file, (done, total) => {
        if (shows) process.stderr.write(`\r${done} of ${total} pages`);
      });
      if (shows) process.stderr.write('\r');
      if (json) console.log(JSON.stringify(made));
      else console.log(`${made.file}: ${made.bytes} bytes, ${made.executions} executions, checked`);
    });
}

/**
 * `npm run relay -- backup FILE` copies the ledger at one moment, while the relay goes on writing it. The file gets its
 * name only when it is complete and checked.
 */
import { closeSync, existsSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Command } from 'commander';
import { type DatabasePlace, indexPath, ledgerPath } from './open.ts';

/** Pages copied between two reports of progress: 4 MiB. */
const PAGES_PER_STEP = 1_024;
const POSTGRES_HAS_ITS_OWN =
  'The ledger is in PostgreSQL (DATABASE_URL). Copy it with pg_dump --schema=ledger; see docs/operating.md.';
/** It contains callers' tasks and results, so only its owner may read it. */
const PRIVATE = 0o600;

/** The relay's own files, as absolute paths. */
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
 * Copies `ledger` to `file`, which is replaced if it exists. `report` gets the copied pages and the total. If the copy
 * fails or is damaged, it throws and leaves nothing behind.
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
        // SQLite starts over whenever the relay writes between two steps. Taking the whole rest in one step ends that.
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

/** Makes the copy a single file, and throws if SQLite finds it damaged. */
function inspect(path: string) {
  const copy = new Sqlite(path);
  try {
    copy.pragma('journal_mode = DELETE');
    const verdict = copy.pragma('integrity_check', { simple: true });
    if (verdict !== 'ok') throw new Error(`the copy is damaged, so the ledger may be damaged too: ${verdict}`);
    const count = (table: string) => Number(copy.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
    return {
      executions: count('executions'),
      results: count('results'),
      api_keys: count('api_keys'),
      metadata: count('documents'),
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

/** Throws if a backup cannot be written to `file`, or would replace one of the relay's own files. */
export function checkTarget(file: string, own: OwnFiles): void {
  if (!existsSync(dirname(file))) throw new Error(`The folder ${dirname(file)} does not exist`);
  if (existsSync(file) && statSync(file).isDirectory())
    throw new Error(`${file} is a folder. Give the name of a file in it.`);
  const target = join(realpathSync(dirname(file)), basename(file));
  for (const path of [own.ledger, own.index].filter(existsSync)) {
    for (const suffix of ['', '-wal', '-shm']) {
      if (target === realpathSync(path) + suffix)
        throw new Error(`${file} is the relay's own file. Choose another name.`);
    }
  }
}

/**
 * `readPlaces` returns the paths of the files, and the folder of relative paths. It is called when the command runs.
 */
export function addBackupCommand(program: Command, readPlaces: () => DatabasePlace & { workingFolder: string }): void {
  program
    .command('backup')
    .description("Copies the ledger to a file. The relay can keep running. DATA_DIR is the ledger's folder.")
    .argument('<file>', 'the file of the copy; an existing file is replaced after the new copy is complete and checked')
    .option('--json', 'print one JSON object and no progress')
    .action(async (name: string, { json }: { json?: true }) => {
      const { dataDir, databaseUrl, workingFolder } = readPlaces();
      if (databaseUrl !== null) throw new Error(POSTGRES_HAS_ITS_OWN);
      const [ledger, index] = [ledgerPath(dataDir), indexPath(dataDir)];
      if (!existsSync(ledger)) throw new Error(`The ledger ${ledger} does not exist. Set DATA_DIR to its folder.`);
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

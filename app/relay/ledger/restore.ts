/** `npm run relay -- restore` puts a backup where the ledger was. It replaces nothing. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { requireLock } from '../../database/lock.ts';
import { addressOf, connectPostgres, SCHEMAS, withoutPassword } from '../../database/postgres.ts';
import { isFull, messageOf } from '../../database/temporary.ts';
import { runPiped } from '../../process/pipe.ts';
import { type Backup, type BackupPlaces, inspectCopy, listBackups, readBackup, sync } from './backup.ts';
import { type DatabasePlace, ledgerLockPath, ledgerPath } from './open.ts';

/** The named backup, or the newest in the folder. Throws if there is none. */
export function chooseBackup(dir: string, file: string | undefined): Backup {
  if (file !== undefined) return readBackup(file);
  const [newest] = listBackups(dir);
  if (!newest) throw new Error(`${dir} has no backup. Make one with \`npm run relay -- backup\`, or set BACKUP_DIR.`);
  return newest;
}

/** Puts the ledger of a backup into a place that has none. Throws, and leaves none there, if the backup is damaged. */
export async function restore(
  backup: Backup,
  { dataDir, databaseUrl }: DatabasePlace,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  if (backup.database === 'postgres' && databaseUrl === null)
    throw new Error(`${backup.path} is a backup of PostgreSQL. Set DATABASE_URL to the database to restore it into.`);
  if (backup.database === 'sqlite' && databaseUrl !== null)
    throw new Error(
      `${backup.path} is a backup of SQLite. Restore it without DATABASE_URL, then run \`npm run relay -- migrate-to-postgres\`.`,
    );
  if (databaseUrl === null) await restoreFile(backup, dataDir);
  else await restoreSchema(backup, databaseUrl, environment);
}

const decompress = { command: 'zstd', args: ['-q', '-d', '-c'], from: 'zstd' };

async function restoreFile({ path }: Backup, dataDir: string): Promise<void> {
  const ledger = ledgerPath(dataDir);
  mkdirSync(dirname(ledger), { recursive: true, mode: 0o700 });
  const lock = requireLock(ledgerLockPath(dataDir), () => `A relay runs on ${ledger}. Stop it first.`);
  const draft = `${ledger}.draft`;
  try {
    // An old WAL would damage the copy.
    const old = ['', '-wal', '-shm'].map((suffix) => ledger + suffix).filter(existsSync);
    if (old.length > 0)
      throw new Error(`Move the present ledger away first, all of its files together: ${old.join(', ')}`);
    rmSync(draft, { force: true });
    try {
      await runPiped([decompress], { input: path, output: draft });
      inspectCopy(draft);
    } catch (error) {
      throw unusable(path, error, dataDir);
    }
    sync(draft);
    renameSync(draft, ledger);
    sync(dirname(ledger));
  } finally {
    rmSync(draft, { force: true });
    lock.release();
  }
}

async function restoreSchema({ path }: Backup, url: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const client = await connectPostgres(url, SCHEMAS.ledger);
  try {
    const { rows } = await client.query(`SELECT 1 FROM pg_namespace WHERE nspname = '${SCHEMAS.ledger}'`);
    if (rows.length > 0)
      throw new Error(
        `${addressOf(url)} has a ledger. Stop its relays and move it away first: ALTER SCHEMA ${SCHEMAS.ledger} RENAME TO ${SCHEMAS.ledger}_old`,
      );
  } finally {
    await client.end();
  }
  const { address, env } = withoutPassword(url, environment);
  const args = ['--no-owner', '--no-privileges', '--single-transaction', `--dbname=${address}`];
  try {
    await runPiped([decompress, { command: 'pg_restore', args, env, from: 'postgresql-client' }], { input: path });
  } catch (error) {
    throw unusable(path, error, addressOf(url));
  }
}

/** The programs name neither the backup nor the way out. */
function unusable(path: string, error: unknown, place: string): Error {
  const advice = isFull(error) ? '' : ' If the file is damaged, name an older one: `npm run relay -- restore FILE`.';
  return new Error(`${path} cannot be restored: ${messageOf(error, place)}.${advice}`, { cause: error });
}

/** `readPlaces` is called when the command runs. */
export function addRestoreCommand(program: Command, readPlaces: () => BackupPlaces): void {
  program
    .command('restore')
    .description('Puts a backup where the ledger was. Stop the relays and move the old ledger away first.')
    .argument('[file]', 'the backup (default: the newest in BACKUP_DIR)')
    .option('--json', 'print one JSON object')
    .action(async (name: string | undefined, { json }: { json?: true }) => {
      const { backup: settings, workingFolder, ...place } = readPlaces();
      const backup = chooseBackup(settings.dir, name === undefined ? undefined : resolve(workingFolder, name));
      await restore(backup, place, settings.environment);
      const [file, made_at] = [backup.path, backup.madeAt.toISOString()];
      if (json) console.log(JSON.stringify({ file, made_at }));
      else console.log(`Restored ${file}, made at ${made_at}. Start the relays: they compare it with the chain first.`);
    });
}

/**
 * The data directory: one `npm start` at a time holds it. Data of different chains are kept apart, because a database
 * is valid only for the chain it was written for.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lock, LockHeld, takeLock } from '../database/lock.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';

/** Identifies the chain by its genesis hash. */
const CHAIN_FILE = 'chain.json';
const RECORDS = /^(?:(?:ledger|index)\.db(?:-wal|-shm|-journal)?|chain\.json|marketplace\.log)$/;

/** Locks the directory, created if missing. Throws Refusal if another process holds it. */
export function lockDirectory(dataDir: string): Lock {
  try {
    return takeLock(join(dataDir, 'lock.db'), join(dataDir, 'lock.pid'));
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error;
    throw new Refusal(
      `${dataDir} is in use by another \`npm start\`${error.holder}. Stop that one, or choose another directory: ` +
        'DATA_DIR=OTHER PORT=0 npm start',
    );
  }
}

interface KnownChain {
  genesis_hash: string;
  /** Name of the PostgreSQL database; null or missing if the records are files. */
  database?: string | null;
}

/**
 * Assigns the directory to this chain. `database` is this chain's PostgreSQL database, null without one. `old` says
 * where another chain's records are now, null if there were none. Throws Refusal if this chain's records are of the
 * other kind: the relay would otherwise start without its past calls.
 */
export function claimForChain(
  dataDir: string,
  chain: { genesisHash: string; hasMarketplace: boolean; onPostgres: boolean },
): { old: string | null; database: string | null } {
  const path = join(dataDir, CHAIN_FILE);
  const known: KnownChain | null = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
  const kept = known?.database ?? null;
  if (known?.genesis_hash === chain.genesisHash && chain.hasMarketplace) {
    if ((kept !== null) === chain.onPostgres) return { old: null, database: kept };
    throw new Refusal(
      `${dataDir} has the records of this chain ${kept === null ? 'in SQLite files' : `in its PostgreSQL, database ${kept}`}. ` +
        `Start ${kept === null ? 'without' : 'with'} --postgres, or choose another directory: DATA_DIR=OTHER`,
    );
  }
  const time = new Date().toISOString().replace(/[:.]/g, '-');
  const records = readdirSync(dataDir).filter((name) => RECORDS.test(name));
  let old: string | null = null;
  if (kept !== null || records.some((name) => name.endsWith('.db'))) {
    const folder = join(dataDir, `old-${time}`);
    mkdirSync(folder, { mode: 0o700 });
    // The chain file is moved last, so that the next start completes an interrupted move.
    records.sort((a, b) => Number(a === CHAIN_FILE) - Number(b === CHAIN_FILE));
    for (const name of records) renameSync(join(dataDir, name), join(folder, name));
    old = kept === null ? `have been moved to ${folder}` : `stay in its PostgreSQL, database ${kept}`;
  }
  // The server has one database per chain, and never drops one.
  const database = chain.onPostgres ? `chain_${time.toLowerCase().replaceAll('-', '_')}` : null;
  const claimed: KnownChain = { genesis_hash: chain.genesisHash, database };
  writeFileSync(path, `${JSON.stringify(claimed, null, 2)}\n`);
  return { old, database };
}

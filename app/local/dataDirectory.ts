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

/**
 * Assigns the directory to this chain. Returns the folder that the records of another chain were moved to; null if there
 * were none.
 */
export function claimForChain(dataDir: string, chain: { genesisHash: string; hasMarketplace: boolean }): string | null {
  const path = join(dataDir, CHAIN_FILE);
  const known: { genesis_hash: string } | null = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
  if (known?.genesis_hash === chain.genesisHash && chain.hasMarketplace) return null;
  const records = readdirSync(dataDir).filter((name) => RECORDS.test(name));
  let old: string | null = null;
  if (records.some((name) => name.endsWith('.db'))) {
    old = join(dataDir, `old-${new Date().toISOString().replace(/[:.]/g, '-')}`);
    mkdirSync(old, { mode: 0o700 });
    // The chain file is moved last, so that the next start completes an interrupted move.
    records.sort((a, b) => Number(a === CHAIN_FILE) - Number(b === CHAIN_FILE));
    for (const name of records) renameSync(join(dataDir, name), join(old, name));
  }
  writeFileSync(path, `${JSON.stringify({ genesis_hash: chain.genesisHash }, null, 2)}\n`);
  return old;
}

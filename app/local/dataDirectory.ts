/**
 * The data directory: one `npm start` at a time has it, and what it holds of one chain is kept apart from another's,
 * because databases speak of accounts that exist on the chain they were written for and nowhere else.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lock, LockHeld, takeLock } from '../database/lock.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';

/** Names the chain by its genesis hash. */
const CHAIN_FILE = 'chain.json';
const RECORDS = /^(?:(?:ledger|index)\.db(?:-wal|-shm|-journal)?|chain\.json|marketplace\.log)$/;

/** Takes the directory, which is made if missing. Throws Refusal when another process has it. */
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
 * Makes the directory belong to this chain. Records of another chain are moved, whole, into `old-<time>`, whose path is
 * returned; null where there were none.
 */
export function claimForChain(dataDir: string, genesisHash: string, hasMarketplace: boolean): string | null {
  const path = join(dataDir, CHAIN_FILE);
  const known = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).genesis_hash : null;
  if (known === genesisHash && hasMarketplace) return null;
  const records = readdirSync(dataDir).filter((name) => RECORDS.test(name));
  let old: string | null = null;
  if (records.some((name) => name.endsWith('.db'))) {
    old = join(dataDir, `old-${new Date().toISOString().replace(/[:.]/g, '-')}`);
    mkdirSync(old, { mode: 0o700 });
    // The chain's name goes last: a move that is cut short is then finished by the next start.
    records.sort((a, b) => Number(a === CHAIN_FILE) - Number(b === CHAIN_FILE));
    for (const name of records) renameSync(join(dataDir, name), join(old, name));
  }
  writeFileSync(path, `${JSON.stringify({ genesis_hash: genesisHash }, null, 2)}\n`);
  return old;
}

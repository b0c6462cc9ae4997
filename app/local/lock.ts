/** One `npm start` at a time in a data directory; how the lock works is said in app/database/lock.ts. */
import { join } from 'node:path';
import { type Lock, LockHeld, takeLock } from '../database/lock.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';

/** Takes the directory, made if missing. Throws Refusal when another process has it. */
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

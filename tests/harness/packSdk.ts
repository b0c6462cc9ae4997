/** Packs the SDK of this checkout. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LockHeld, takeLock } from '../../app/database/lock.ts';
import { untilFound } from './edge/until.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SDK = join(ROOT, 'app', 'sdk');

export interface Packed {
  filename: string;
  files: { path: string }[];
}

/** Writes the package into a folder. Packing compiles into `app/sdk/dist`, so one process at a time may do it. */
export async function packSdk(destination: string): Promise<Packed> {
  const lock = await untilFound('nobody else packs the SDK', () => {
    try {
      return takeLock(join(ROOT, 'target', 'sdk-pack.lock'));
    } catch (error) {
      if (error instanceof LockHeld) return null;
      throw error;
    }
  });
  try {
    const args = ['pack', '--json', '--pack-destination', destination];
    const { stdout } = await promisify(execFile)('npm', args, { cwd: SDK });
    const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [Packed];
    return packed;
  } finally {
    lock.release();
  }
}

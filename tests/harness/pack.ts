/** Packs a workspace of this checkout as npm would publish it. */
import { basename, join } from 'node:path';
import { LockHeld, takeLock } from '../../app/database/lock.ts';
import { run } from './edge/tools.ts';
import { untilFound } from './edge/until.ts';

const ROOT = join(import.meta.dirname, '..', '..');

export interface Packed {
  filename: string;
  files: { path: string }[];
}

/** Writes the package into a folder. Packing builds into the workspace's `dist`, so one process at a time may do it. */
export async function pack(workspace: string, destination: string): Promise<Packed> {
  const lock = await untilFound('nobody else packs it', () => {
    try {
      return takeLock(join(ROOT, 'target', `pack-${basename(workspace)}.lock`));
    } catch (error) {
      if (error instanceof LockHeld) return null;
      throw error;
    }
  });
  try {
    const args = ['pack', '--json', '--pack-destination', destination];
    const { code, stdout, output } = await run('npm', args, { cwd: join(ROOT, workspace) });
    if (code !== 0) throw new Error(output);
    const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [Packed];
    return packed;
  } finally {
    lock.release();
  }
}

/** The page that the relay serves, made anew where its sources have changed since it was made last. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Refusal } from '../sdk/wallet/refusal.ts';
import type { Shutdown } from './shutdown.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BUILD = ['scripts/run.mjs', 'app/dashboard/build.ts'];

/** In a process of its own, because what builds needs more memory than what serves. Throws Refusal where it fails. */
export async function buildDashboard(shutdown: Shutdown): Promise<void> {
  const builder = spawn(process.execPath, BUILD, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
  shutdown.onStop(() => void builder.kill());
  let told = '';
  builder.stderr.on('data', (text) => {
    told += text;
  });
  const [code] = await once(builder, 'close');
  if (code !== 0) throw new Refusal(`The dashboard could not be built:\n${told}`);
}

/** Builds the web page that the relay serves, if its sources have changed since the last build. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Refusal } from '../sdk/wallet/refusal.ts';
import type { Shutdown } from './shutdown.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BUILD = ['scripts/run.mjs', 'app/dashboard/build.ts'];

/** Runs in a separate process, because building needs more memory than serving. Throws Refusal if it fails. */
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

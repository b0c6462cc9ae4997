/** The shutdown of `npm start`, alone. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { ROOT } from './start.ts';

/** Much longer than the product waits for a step. */
const PATIENCE_MS = 240_000;
const HANGING = `
  import { createShutdown } from './app/local/shutdown.ts';
  const shutdown = createShutdown(console.log);
  shutdown.onStop(() => console.log('the next step'));
  shutdown.onStop(() => new Promise(() => {}));
  setInterval(() => {}, 1_000);
  process.kill(process.pid, 'SIGINT');
`;

describe('the shutdown of npm start', () => {
  it('ends the process although a step does not end', () => {
    const argv = ['--import', 'tsx', '--input-type', 'module', '--eval', HANGING];
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
      cwd: ROOT,
      encoding: 'utf8',
      timeout: PATIENCE_MS,
      // It does not end by SIGTERM either.
      killSignal: 'SIGKILL',
    });
    expect([status, stdout], stderr).to.deep.equal([0, '\nStopping ...\n']);
  });
});

/** Runs schemathesis (PyPI) in its own virtual environment. */
import { dirname, join } from 'node:path';
import { type Finished, installPython, run } from '../harness/edge/tools.ts';

const install = () => installPython('schemathesis', join(import.meta.dirname, 'requirements.txt'));

/** Returns null, or why it could not be installed. */
export async function installSchemathesis(): Promise<string | null> {
  return (await install()).obstacle;
}

/** Runs `schemathesis run` in the folder of its configuration and checks.py, where it also writes files. */
export async function runSchemathesis(config: string, args: string[]): Promise<Finished> {
  const { folder } = await install();
  return run(join(folder, 'bin', 'schemathesis'), ['--config-file', config, 'run', ...args], {
    cwd: dirname(config),
    env: {
      ...process.env,
      NO_COLOR: '1',
      // Keeps compiled files out of the folder of checks.py.
      PYTHONPYCACHEPREFIX: join(folder, 'compiled'),
      PYTHONPATH: import.meta.dirname,
    },
  });
}

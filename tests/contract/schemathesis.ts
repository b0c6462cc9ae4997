/** Runs schemathesis (PyPI) from an environment of its own. */
import { dirname, join } from 'node:path';
import { type Finished, installPython, run } from '../harness/edge/tools.ts';

const install = () => installPython('schemathesis', join(import.meta.dirname, 'requirements.txt'));

/** Null, or why it could not be installed. */
export async function installSchemathesis(): Promise<string | null> {
  return (await install()).obstacle;
}

/** `schemathesis run` in the folder of its configuration, where it leaves its notes; checks.py is found by its name. */
export async function runSchemathesis(config: string, args: string[]): Promise<Finished> {
  const { folder } = await install();
  return run(join(folder, 'bin', 'schemathesis'), ['--config-file', config, 'run', ...args], {
    cwd: dirname(config),
    env: {
      ...process.env,
      NO_COLOR: '1',
      // What it compiles does not lie beside checks.py.
      PYTHONPYCACHEPREFIX: join(folder, 'compiled'),
      PYTHONPATH: import.meta.dirname,
    },
  });
}

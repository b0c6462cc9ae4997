/**
 * `npm run validator`: runs Agave's `solana-test-validator` in the foreground, with Alpenglow, as the node for `npm start`
 * in another terminal. Its chain is kept.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { readDataDir } from './config.ts';
import { loadIdentities } from './identities.ts';
import { commandLine, VALIDATOR, validatorCommand } from './validatorCommand.ts';

const dataDir = readDataDir(process.env);
// The command contains the admin's keypair.
loadIdentities(join(dataDir, 'demo'));
const { stdout: help, error } = spawnSync(VALIDATOR, ['--help'], { encoding: 'utf8' });
if (error) {
  console.error(
    (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? `${VALIDATOR} is not on the PATH. It is part of the Solana CLI: https://docs.anza.xyz/cli/install`
      : error.message,
  );
  process.exit(1);
}
const words = [...validatorCommand(dataDir, help), ...process.argv.slice(2)];
console.log(commandLine(words));
if (!words.includes('--alpenglow')) {
  console.log(`This ${VALIDATOR} is older than 4.3. It has no Alpenglow, so its blocks are final only after 13 s.`);
}
const [program, ...args] = words;
const child = spawn(program!, args, { stdio: 'inherit' });
let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    isStopping = true;
    child.kill(signal);
  });
}
const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
process.exitCode = code ?? 1;
if (process.exitCode !== 0 && !isStopping) {
  console.error(`${VALIDATOR} ended with ${signal ?? `exit code ${code}`}. ${reasonInLog()}`);
}

/** Why it ended. It writes some reasons only into its log: a gossip port in use, for example. */
function reasonInLog(): string {
  const log = join(dataDir, 'validator', 'validator.log');
  // A log may be larger than the longest string.
  const lines = spawnSync('tail', ['-n', '1000', log], { encoding: 'utf8' }).stdout.split('\n');
  const panic = lines.findLastIndex((line) => line.includes(' panicked at '));
  return panic < 0 ? 'Read the end of its log, named above.' : `Its log says: ${lines[panic + 1]}`;
}

/**
 * `npm run validator`: runs Agave's `solana-test-validator` in the foreground, as the node for `npm start` in another
 * terminal. Its chain is kept.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { readDataDir } from './config.ts';
import { loadIdentities } from './identities.ts';
import { commandLine, validatorCommand } from './validatorCommand.ts';

const dataDir = readDataDir(process.env);
// The command contains the admin's keypair.
loadIdentities(join(dataDir, 'demo'));
const words = [...validatorCommand(dataDir), ...process.argv.slice(2)];
console.log(commandLine(words));
const [program, ...args] = words;
const child = spawn(program!, args, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
child.once('error', (error: NodeJS.ErrnoException) => {
  console.error(
    error.code === 'ENOENT'
      ? 'solana-test-validator is not on the PATH. It is part of the Solana CLI: https://docs.anza.xyz/cli/install'
      : error.message,
  );
  process.exit(1);
});
const [code] = (await once(child, 'exit')) as [number | null];
process.exitCode = code ?? 1;

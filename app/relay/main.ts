/**
 * `npm run relay` serves the API beside an indexer. `npm run relay -- backup` and `-- reconcile` maintain its ledger.
 * This is only the entry: code that runs the relay in its own process imports `start.ts`.
 */
import { Command } from 'commander';
import { addressOf } from '../database/postgres.ts';
import { messageOf } from '../database/temporary.ts';
import { runCommandLine } from '../process/commandLine.ts';
import { addCheckCommand } from './check.ts';
import { describeConfig, readConfig, readToolConfig } from './config.ts';
import { addBackupCommand } from './ledger/backup.ts';
import { addMoveCommand } from './ledger/moveToPostgres.ts';
import { addRestoreCommand } from './ledger/restore.ts';
import { createLog } from './log.ts';
import { rotateCallKeys } from './outbound/callKeys.ts';
import { addReconcileCommand } from './reconcile/command.ts';
import { type RunningRelay, startRelay } from './start.ts';
import { endThreads, warmThreads } from './workers.ts';

/** npm forwards a signal that the terminal has already sent to this process. Within this time it is the same one. */
const SAME_SIGNAL_MS = 500;

/**
 * Serves until a signal. The first one stops in order, and unfinished executions continue after the next start. A
 * second one ends the process at once.
 */
async function serve(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  let relay: RunningRelay | null = null;
  let reportedAt: number | null = null;
  const stop = async (signal: NodeJS.Signals) => {
    if (reportedAt !== null) {
      if (performance.now() - reportedAt > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    reportedAt = performance.now();
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(0), config.shutdownSeconds * 1_000);
    await relay?.stop();
    log.info('stopped');
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stop(signal).catch((error) => {
        log.error({ error }, 'the relay did not stop cleanly');
        process.exit(1);
      });
    });
  }
  warmThreads();
  relay = await startRelay({ config, log }).catch((error: unknown) => {
    throw new Error(messageOf(error, config.databaseUrl ? addressOf(config.databaseUrl) : config.dataDir), {
      cause: error,
    });
  });
}

async function main(): Promise<void> {
  const program = new Command('npm run relay --')
    .description(
      'Runs the relay: serves the API and carries out executions. An indexer must run at the same time. The other commands maintain the ledger.',
    )
    .addHelpText('after', `\nSettings come from the environment:\n\n${describeConfig()}`)
    .action(serve);
  const readPlaces = () => readToolConfig(process.env);
  addBackupCommand(program, readPlaces);
  addRestoreCommand(program, readPlaces);
  addCheckCommand(program, () => readConfig(process.env));
  addReconcileCommand(program, readPlaces);
  addMoveCommand(program, readPlaces);
  program
    .command('rotate-call-key')
    .description(
      'creates a new key that signs calls to creators; the previous key stays in the key directory. Restart the relay afterwards',
    )
    .action(() =>
      console.log(
        `From its next start on, the relay signs with ${rotateCallKeys(readConfig(process.env).callKeysPath)}`,
      ),
    );
  await runCommandLine(program);
}

main().catch(async (error: Error) => {
  console.error(error.message);
  await endThreads();
  process.exit(1);
});

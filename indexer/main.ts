/** `npm run indexer`: follows the program on a cluster and keeps index.db, in a process apart from the relay. */
import { Command } from 'commander';
import pino from 'pino';
import { runCommandLine } from '../app/process/commandLine.ts';
import { heliusHistory } from '../app/solana/helius.ts';
import { describeConfig, readConfig } from './config.ts';
import { createIndexer } from './indexer.ts';

async function run(): Promise<void> {
  const config = readConfig(process.env);
  const log = pino({ level: config.logLevel });
  const indexer = createIndexer({
    ...config,
    ...(config.helius && { history: heliusHistory(config.helius) }),
    log,
    onFailure: () => {
      process.exitCode = 1;
      void indexer.stop();
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping');
      void indexer.stop();
    });
  }
  await indexer.start();
}

try {
  await runCommandLine(
    new Command('npm run indexer')
      .description('Follows the program and keeps index.db.')
      .addHelpText('after', `\nSettings come from the environment:\n\n${describeConfig()}`)
      .action(run),
  );
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}

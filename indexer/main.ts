/**
 * `npm run indexer`: follows the program on a cluster and keeps index.db. Runs apart from the relay, or in its process
 * through `createIndexer`.
 */
import { Command } from 'commander';
import pino from 'pino';
import { runCommandLine } from '../app/process/commandLine.ts';
import { heliusHistory } from '../app/solana/helius.ts';
import { describeConfig, readConfig } from './config.ts';
import { createIndexer } from './indexer.ts';

export { createIndexer, type Indexer, type IndexerOptions, type IndexerStatus } from './indexer.ts';

async function follow(): Promise<void> {
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

// Run only as the entry file; others import createIndexer.
if (process.argv[1] && /indexer[\\/]main\.ts$/.test(process.argv[1])) {
  const command = new Command('npm run indexer')
    .description('Follows the program and keeps index.db.')
    .addHelpText('after', `\nSettings come from the environment:\n\n${describeConfig()}`)
    .action(follow);
  runCommandLine(command).catch((error: Error) => {
    console.error(error.message);
    process.exit(1);
  });
}

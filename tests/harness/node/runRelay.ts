/** Runs relay and indexer in this process, as `npm start` does. */
import type { DestinationStream } from 'pino';
import { indexPath, readConfig } from '../../../app/relay/config.ts';
import { createLog } from '../../../app/relay/log.ts';
import { startRelay } from '../../../app/relay/start.ts';
import { createIndexer } from '../../../indexer/indexer.ts';
import { createStandstill } from './standstill.ts';

/**
 * With STANDSTILL, executions stop at the points that their tasks name, report this to `stands`, and continue when
 * released. With POLL_SECONDS, the relay reads the SOL of its keys more often. `destination` gets its log.
 */
export async function runRelay(
  environment: NodeJS.ProcessEnv,
  options: { stands: (task: string) => void; sharesProcess?: boolean; destination?: DestinationStream },
) {
  const { stands, sharesProcess = false, destination } = options;
  const config = readConfig(environment);
  if (environment.POLL_SECONDS) config.runway.pollSeconds = Number(environment.POLL_SECONDS);
  const log = createLog(config.logLevel, destination);
  // Two relays on one ledger share an indexer.
  const indexer = environment.WITHOUT_INDEXER
    ? null
    : createIndexer({
        rpcUrl: environment.INDEXER_RPC_URL!,
        wsUrl: environment.INDEXER_WS_URL!,
        path: config.databaseUrl ?? indexPath(config.dataDir),
        log,
      });
  await indexer?.start();
  const standstill = environment.STANDSTILL ? createStandstill(stands) : null;
  const relay = await startRelay({ config, log, sharesProcess, ...standstill });
  return {
    url: relay.url,
    commits: relay.commits,
    release: (task: string, nextStop?: string) => standstill?.release(task, nextStop),
    async stop(): Promise<void> {
      await relay.stop();
      await indexer?.stop();
    },
  };
}

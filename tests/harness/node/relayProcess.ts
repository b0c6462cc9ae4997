/**
 * Runs relay and indexer in one process, as `npm start` does, for tests that kill it. With STANDSTILL, executions stop
 * at the points that their tasks name, report this by a message, and continue after a message. With POLL_SECONDS, the
 * relay reads the SOL of its keys more often.
 */
import { indexPath, readConfig } from '../../../app/relay/config.ts';
import { createLog } from '../../../app/relay/log.ts';
import { startRelay } from '../../../app/relay/start.ts';
import { createIndexer } from '../../../indexer/indexer.ts';
import { createStandstill } from './standstill.ts';

// Registered first, because the parent may be gone before this process is ready.
process.on('disconnect', () => process.exit(0));

const config = readConfig(process.env);
if (process.env.POLL_SECONDS) config.runway.pollSeconds = Number(process.env.POLL_SECONDS);
const log = createLog(config.logLevel);
// Two relays on one ledger share an indexer.
const indexer = process.env.WITHOUT_INDEXER
  ? null
  : createIndexer({
      rpcUrl: process.env.INDEXER_RPC_URL!,
      wsUrl: process.env.INDEXER_WS_URL!,
      path: config.databaseUrl ?? indexPath(config.dataDir),
      log,
    });
await indexer?.start();
const standstill = process.env.STANDSTILL ? createStandstill((task) => process.send?.({ standing: task })) : null;
const relay = await startRelay({ config, log, ...standstill });
process.send?.({ url: relay.url });
process.on('message', ({ release, nextStop }: { release?: string; nextStop?: string }) => {
  if (release !== undefined) return void standstill?.release(release, nextStop);
  process.send?.({ cpu: process.cpuUsage(), commits: relay.commits() });
});
process.on('SIGTERM', async () => {
  await relay.stop();
  await indexer?.stop();
  process.exit(0);
});

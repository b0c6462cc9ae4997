/**
 * The relay in a process of its own, with an indexer beside it as `npm start` runs them, for tests that kill it. With
 * STANDSTILL its executions stop where their tasks say, and each is reported by a message; one lets it go on. With
 * LOOK_SECONDS it reads the SOL of its keys more often than an operator's.
 */
import { indexPath, readConfig } from '../../../app/relay/config.ts';
import { createLog } from '../../../app/relay/log.ts';
import { startRelay } from '../../../app/relay/start.ts';
import { createIndexer } from '../../../indexer/indexer.ts';
import { createStandstill } from './standstill.ts';

// First of all: whoever started this may be gone before it is ready.
process.on('disconnect', () => process.exit(0));

/** Milliseconds by stage since they were last asked for. */
let timings: Record<string, number> = {};
const config = readConfig(process.env);
if (process.env.LOOK_SECONDS) config.runway.lookSeconds = Number(process.env.LOOK_SECONDS);
const log = createLog(config.logLevel);
// Two relays on one ledger have one indexer.
const indexer = process.env.WITHOUT_INDEXER
  ? null
  : createIndexer({
      rpcUrl: process.env.INDEXER_RPC_URL ?? config.rpcUrl,
      wsUrl: process.env.INDEXER_WS_URL ?? config.wsUrl,
      path: config.databaseUrl ?? indexPath(config.dataDir),
      log,
    });
await indexer?.start();
const standstill = process.env.STANDSTILL ? createStandstill((task) => process.send?.({ standing: task })) : null;
const relay = await startRelay({
  config,
  log,
  ...(process.env.OBSERVE && {
    observe: (stage: string, ms: number) => {
      timings[stage] = (timings[stage] ?? 0) + ms;
    },
  }),
  ...standstill,
});
process.send?.({ url: relay.url });
process.on('message', ({ release, nextStop }: { release?: string; nextStop?: string }) => {
  if (release !== undefined) return void standstill?.release(release, nextStop);
  process.send?.({ timings, rss: process.memoryUsage.rss(), commits: relay.commits() });
  timings = {};
});
process.on('SIGTERM', async () => {
  await relay.stop();
  await indexer?.stop();
  process.exit(0);
});

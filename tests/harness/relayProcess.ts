/**
 * Relay and indexer in a process of their own, as `npm start` runs them, for tests that kill it. KILL_AT names a move of
 * the journal and a side of it, such as `verified:before`: there the process ends itself as `kill -9` would.
 */
import pino from 'pino';
import { indexPath, readConfig } from '../../app/relay/config.ts';
import { startRelay } from '../../app/relay/main.ts';
import type { Journal } from '../../app/relay/store.ts';
import { createIndexer } from '../../indexer/main.ts';

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment; nothing may happen meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error('unreachable');
}

/** The journal that ends the process on the given side of the given move, the first time it is made. */
function killingJournal(journal: Journal, killAt: string): Journal {
  const [move, side] = killAt.split(':');
  return new Proxy(journal, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      if (name !== move) return method;
      return async (...args: unknown[]) => {
        if (side === 'before') die();
        const value = await method.apply(target, args);
        die();
        return value;
      };
    },
  });
}

/** Milliseconds by stage since they were last asked for. */
let timings: Record<string, number> = {};
const config = readConfig(process.env);
const log = pino({ level: config.logLevel });
const indexer = createIndexer({
  rpcUrl: config.rpcUrl,
  wsUrl: config.wsUrl,
  path: indexPath(config.dataDir),
  log,
});
await indexer.start();
const killAt = process.env.KILL_AT;
const relay = await startRelay({
  config,
  log,
  ...(process.env.OBSERVE && {
    observe: (stage: string, ms: number) => {
      timings[stage] = (timings[stage] ?? 0) + ms;
    },
  }),
  ...(killAt && { wrapJournal: (journal: Journal) => killingJournal(journal, killAt) }),
});
process.send?.({ url: relay.url });
process.on('message', () => {
  process.send?.({ timings, rss: process.memoryUsage.rss() });
  timings = {};
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', async () => {
  await relay.stop();
  await indexer.stop();
  process.exit(0);
});

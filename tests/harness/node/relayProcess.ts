/** Runs relay and indexer for tests that kill them. Reports what stands still, and releases it at a message. */
import { runRelay } from './runRelay.ts';

// Registered first, because the parent may be gone before this process is ready.
process.on('disconnect', () => process.exit(0));

const relay = await runRelay(process.env, { stands: (task) => process.send?.({ standing: task }) });
process.send?.({ url: relay.url });
process.on('message', ({ release, nextStop }: { release?: string; nextStop?: string }) => {
  if (release !== undefined) return void relay.release(release, nextStop);
  process.send?.({ cpu: process.cpuUsage(), commits: relay.commits() });
});
process.on('SIGTERM', async () => {
  await relay.stop();
  process.exit(0);
});

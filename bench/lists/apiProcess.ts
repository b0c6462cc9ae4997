/**
 * The relay's API over a filled ledger and index, in a process of its own, which tells its parent how long its event loop
 * was held since it was last asked, and what it computed: on a busy machine that says more than the time.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startWorld } from '../../tests/harness/edge/api.ts';
import { WALLET } from './fill.ts';

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const begun = performance.now();
const world = await startWorld({}, process.argv[2]);
const { apiKey } = await world.addKey({ wallet: WALLET });
const ready = await fetch(`${world.url}/v1/agents?limit=1`);
if (!ready.ok) throw new Error(`the first list was answered ${ready.status}`);
const memoryMb = () => process.memoryUsage().rss / 2 ** 20;
process.send?.({
  url: world.url,
  apiKey,
  start_ms: performance.now() - begun,
  start_held_ms: delay.max / 1e6,
  rss_mb: memoryMb(),
});
delay.reset();
let used = process.cpuUsage();
process.on('message', () => {
  const { user, system } = process.cpuUsage(used);
  process.send?.({ held_ms: delay.max / 1e6, cpu_ms: (user + system) / 1e3 });
  used = process.cpuUsage();
  delay.reset();
});

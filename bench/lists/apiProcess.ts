/**
 * The relay's API over a filled ledger and index, in a process of its own, which tells its parent what its requests took in
 * here, how long its event loop was held, and what it computed: on a busy machine that says more than the client's time.
 */
import { channel } from 'node:diagnostics_channel';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startWorld } from '../../tests/harness/edge/api.ts';
import { percentiles } from '../relay/percentiles.ts';
import { WALLET } from './fill.ts';

process.on('disconnect', () => process.exit(0));
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const begun = performance.now();
const world = await startWorld({}, process.argv[2]);
const { apiKey } = await world.addKey({ wallet: WALLET });
// The first request compiles much, also of the client.
await (await fetch(`${world.url}/health`)).text();
delay.reset();
const ready = await fetch(`${world.url}/v1/agents?limit=1`);
if (!ready.ok) throw new Error(`the first list was answered ${ready.status}`);
process.send?.({
  url: world.url,
  apiKey,
  start_ms: performance.now() - begun,
  // While the listings were read; nobody is served before.
  start_held_ms: delay.max / 1e6,
  rss_mb: process.memoryUsage().rss / 2 ** 20,
});
delay.reset();

/** From a request's head to the end of its answer. */
let times: number[] = [];
const begins = new WeakMap<object, number>();
channel('http.server.request.start').subscribe((message) => {
  begins.set((message as { request: object }).request, performance.now());
});
channel('http.server.response.finish').subscribe((message) => {
  times.push(performance.now() - (begins.get((message as { request: object }).request) ?? 0));
});
let used = process.cpuUsage();
process.on('message', () => {
  const { user, system } = process.cpuUsage(used);
  const own = times.length > 0 ? percentiles(times) : null;
  process.send?.({ own, held_ms: delay.max / 1e6, cpu_ms: (user + system) / 1e3 });
  used = process.cpuUsage();
  times = [];
  delay.reset();
});

/**
 * Runs a measured relay in its own process, with settings from the environment. It answers each message with the
 * figures since the previous message.
 */
import { channel } from 'node:diagnostics_channel';
import { openSync, readSync } from 'node:fs';
import pino from 'pino';
import { readConfig } from '../../app/relay/config.ts';
import { startRelay } from '../../app/relay/start.ts';

export interface RelayFigures {
  /** Milliseconds of each request, from its head to the end of its answer. */
  times: number[];
  /** The longest turn of the event loop, in milliseconds of processor time; time of other processes does not count. */
  held_ms: number;
  /** Memory of this process now. */
  rss_mb: number;
}

process.on('disconnect', () => process.exit(0));

/** Scheduling figures of the main thread. The first is its processor time in nanoseconds. */
const schedule = openSync('/proc/self/schedstat', 'r');
const buffer = Buffer.alloc(128);
function processorMs(): number {
  const length = readSync(schedule, buffer, 0, buffer.length, 0);
  return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6;
}
let held_ms = 0;
let last = processorMs();
setInterval(() => {
  const now = processorMs();
  held_ms = Math.max(held_ms, now - last);
  last = now;
}, 1);

let times: number[] = [];
const begins = new WeakMap<object, number>();
channel('http.server.request.start').subscribe((message) => {
  begins.set((message as { request: object }).request, performance.now());
});
channel('http.server.response.finish').subscribe((message) => {
  times.push(performance.now() - begins.get((message as { request: object }).request)!);
});
process.on('message', () => {
  const rss_mb = process.memoryUsage.rss() / 2 ** 20;
  process.send?.({ times, held_ms, rss_mb } satisfies RelayFigures);
  times = [];
  held_ms = 0;
});

const config = readConfig(process.env);
const relay = await startRelay({ config, log: pino({ level: config.logLevel }) });
process.send?.({ url: relay.url });

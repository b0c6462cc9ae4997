/** Runs all that reports events: their numbering, the streams, the events of the chain, and webhooks. */
import { isTemporary } from '../../database/temporary.ts';
import { dropOldEvents } from '../ledger/events.ts';
import { createPayers } from '../ledger/payers.ts';
import { runEvery } from '../waiting.ts';
import { followChain } from './chain.ts';
import type { CollateralLimits } from './collateral.ts';
import { createDeliveries, type DeliveryDeps } from './deliveries.ts';
import type { FailingDeps } from './failing.ts';
import { createFeed } from './feed.ts';
import { createStreams } from './streams.ts';

/** Pause between two turns: about the delay of an event from the ledger to a stream. */
const TURN_MS = 250;
/** Pause between two readings of the index. Final slots come five times a second. */
const FOLLOW_MS = 2_000;
/** How long events and deliveries are kept. */
const KEPT_MS = 30 * 24 * 60 * 60_000;
const DROP_MS = 60 * 60_000;

interface EventsDeps extends DeliveryDeps, FailingDeps {
  limits(): CollateralLimits;
}

export type RunningEvents = ReturnType<typeof createEvents>;

export function createEvents(deps: EventsDeps) {
  const { ledger, log, now } = deps;
  const feed = createFeed(deps);
  const streams = createStreams({ ...deps, feed, payers: createPayers(deps.views) });
  const deliveries = createDeliveries(deps);
  const follow = async () => {
    while (await followChain(deps));
  };
  const tasks: [everyMs: number, run: () => Promise<unknown>][] = [
    [TURN_MS, feed.turn],
    [FOLLOW_MS, follow],
    [DROP_MS, () => dropOldEvents(ledger, now() - KEPT_MS)],
  ];
  const ends: (() => Promise<void>)[] = [];
  const begin = (everyMs: number, run: () => Promise<unknown>) =>
    ends.push(
      runEvery(everyMs, run, (error) =>
        log[isTemporary(error) ? 'warn' : 'error']({ error }, 'cannot process events; it will be retried'),
      ),
    );
  return {
    streams,
    /** Numbers events from now on, and streams them. */
    start(): void {
      for (const [everyMs, run] of tasks) begin(everyMs, run);
    },
    /** Sends webhooks from now on. */
    startSending: () => void begin(TURN_MS, deliveries.turn),
    /** Ends the streams, and resolves when nothing is written any more. */
    async end(): Promise<void> {
      streams.end();
      await Promise.all(ends.map((end) => end()));
      await deliveries.idle();
    },
  };
}

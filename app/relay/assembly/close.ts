/** Stops a relay. */
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { createKeyUse } from '../access/auth.ts';
import type { RelayConfig } from '../config.ts';
import type { RunningEvents } from '../events/events.ts';
import type { createEngine } from '../execution/engine.ts';
import { endConnections } from '../http/drain.ts';
import type { createLeadership } from '../ledger/leadership.ts';
import type { WebhookCalls } from '../outbound/webhook.ts';
import type { Sweeper } from '../sweeper/sweeper.ts';
import { within } from '../waiting.ts';
import type { EngineParts } from './parts.ts';

/** The share of the stopping time in which executions may still end. The rest is for answers and files. */
const DRAIN_SHARE = 0.7;

/** Everything that a stop must end. */
interface Running {
  config: RelayConfig;
  parts: EngineParts;
  engine: ReturnType<typeof createEngine>;
  server: Server;
  /** Resolves when no answer is outstanding. */
  answered(): Promise<unknown>;
  /** Aborts everything that still waits. */
  stopping: AbortController;
  leadership: ReturnType<typeof createLeadership>;
  endLease(): Promise<void>;
  endKeeping(): Promise<unknown>;
  keyUse: ReturnType<typeof createKeyUse>;
  /** Ends the periodic tasks. */
  ends: (() => void)[];
  sweeper: Sweeper | null;
  events: RunningEvents;
  calls: WebhookCalls;
}

export async function closeRelay(running: Running): Promise<void> {
  const { config, parts, engine, server, stopping } = running;
  if (config.leaveSeconds > 0) {
    parts.gate.announce('stopping');
    endConnections(server);
    await sleep(config.leaveSeconds * 1_000);
  }
  parts.gate.set('stopping', true);
  server.close();
  for (const end of running.ends) end();
  const limitMs = (config.shutdownSeconds - config.leaveSeconds) * 1_000;
  const restMs = (limitMs * (1 - DRAIN_SHARE)) / 3;
  await within(engine.idle(), limitMs * DRAIN_SHARE);
  stopping.abort(new Error('stopping'));
  await within(running.sweeper?.end() ?? Promise.resolve(), restMs);
  await within(Promise.all([engine.stop(), running.endKeeping(), running.events.end()]), restMs);
  await within(running.answered(), restMs);
  server.closeAllConnections();
  await running.leadership.leave();
  await running.endLease();
  parts.chain.close();
  await within(Promise.allSettled([running.keyUse.close(), parts.creators.destroy(), running.calls.destroy()]), restMs);
  await parts.files.close();
}

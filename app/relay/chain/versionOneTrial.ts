/**
 * Simulates transactions of version 1. After a node could not, it gives up for a minute: the node may not know that
 * version, and its caller sends smaller transactions of version 0.
 */
import type { Logger } from 'pino';

const PAUSE_MS = 60_000;

/** `message` is logged when a pause begins. */
export function createVersionOneTrial<Answer>(
  simulate: (bytes: Uint8Array) => Promise<Answer>,
  log: Pick<Logger, 'warn'>,
  message: string,
) {
  let pausedUntil = 0;
  return {
    isPaused: () => performance.now() < pausedUntil,
    /** `unknown` if the node could not simulate it, which begins a pause. */
    simulate: (bytes: Uint8Array): Promise<Answer | 'unknown'> =>
      simulate(bytes).catch((error) => {
        log.warn({ error }, message);
        pausedUntil = performance.now() + PAUSE_MS;
        return 'unknown' as const;
      }),
  };
}

/**
 * Simulates transactions of version 1. After a node could not, it gives up for a minute: the node may not know that
 * version, and its caller sends smaller transactions of version 0.
 */
import type { Logger } from 'pino';
import type { TransactionFailure } from './failures.ts';
import type { RelayChain } from './relayChain.ts';

const PAUSE_MS = 60_000;

export interface VersionOneTrial {
  isPaused(): boolean;
  /** Null if it would succeed. `unknown` if the node could not simulate it, which begins a pause. */
  simulate(bytes: Uint8Array): Promise<TransactionFailure | null | 'unknown'>;
}

/** `message` is logged when a pause begins. */
export function createVersionOneTrial(
  chain: Pick<RelayChain, 'simulate'>,
  log: Pick<Logger, 'warn'>,
  message: string,
): VersionOneTrial {
  let pausedUntil = 0;
  return {
    isPaused: () => performance.now() < pausedUntil,
    simulate: (bytes) =>
      chain.simulate(bytes).catch((error) => {
        log.warn({ error }, message);
        pausedUntil = performance.now() + PAUSE_MS;
        return 'unknown' as const;
      }),
  };
}

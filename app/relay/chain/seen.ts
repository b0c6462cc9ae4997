/**
 * Tells when a node has executed a payment of an x402 client, in a block that may not be final. A notification of any node
 * makes it ask at once, and without one it asks once a slot.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PublicKey } from '@solana/web3.js';
import { isSeen } from '../../solana/calls.ts';
import { subscribe } from '../../solana/subscription.ts';
import type { Nodes } from './nodes.ts';

const POLL_MS = 200;

export type Seen = ReturnType<typeof createSeen>;

/**
 * Subscribes at once to all transactions that `feePayer` pays for, at every node that has a WebSocket. `pollMs` is the
 * pause between two questions.
 */
export function createSeen(nodes: Pick<Nodes, 'all' | 'first'>, feePayer: PublicKey | null, pollMs: number = POLL_MS) {
  const waiting = new Map<string, () => void>();
  const subscriptions = nodes.all.flatMap((node) => {
    if (node.wsUrl === null || feePayer === null) return [];
    const subscription = subscribe({
      wsUrl: node.wsUrl,
      address: feePayer.toBase58(),
      commitment: 'processed',
      onLogs: ({ signature, error }) => error === null && waiting.get(signature)?.(),
    });
    return [subscription];
  });

  async function poll(signature: string, noticed: Promise<void>, stop: AbortSignal): Promise<boolean> {
    const pause = () => sleep(pollMs, undefined, { signal: stop }).catch(() => undefined);
    await Promise.race([noticed, pause()]);
    while (!stop.aborted) {
      if (await nodes.first((node) => isSeen(node, signature)).catch(() => false)) return true;
      await pause();
    }
    return false;
  }

  return {
    /**
     * Waits until the node that answers first has executed this payment without an error. False once `stop` ends the
     * waiting. Never rejects because of a node.
     */
    async untilSeen(signature: string, stop: AbortSignal): Promise<boolean> {
      if (stop.aborted) return false;
      const noticed = new Promise<void>((resolve) => waiting.set(signature, resolve));
      const stopped = new Promise<false>((resolve) => {
        stop.addEventListener('abort', () => resolve(false), { once: true });
      });
      try {
        return await Promise.race([poll(signature, noticed, stop), stopped]);
      } finally {
        waiting.delete(signature);
      }
    },
    close() {
      for (const subscription of subscriptions) subscription.close();
    },
  };
}

/**
 * Tells when a node has executed a payment of an x402 client, in a block that may not be final: by notification, with
 * polling as a fallback.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PublicKey } from '@solana/web3.js';
import { isSeen } from '../../solana/calls.ts';
import { subscribe } from '../../solana/subscription.ts';
import type { ChainNode, Nodes } from './nodes.ts';

/** How often a node is asked for a payment: with notifications, and without them once a slot. */
const POLL_MS = 1_000;
const POLL_ALONE_MS = 200;

export interface Seen {
  /**
   * Waits until a node has executed this payment without an error. False if `stop` ends the waiting. Never rejects
   * because of a node.
   */
  untilSeen(signature: string, stop: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Subscribes at once to all transactions that `feePayer` pays for, at every node that has a WebSocket. */
export function createSeen(nodes: Nodes, feePayer: PublicKey | null): Seen {
  const waiting = new Map<string, () => void>();
  const reporting = new Set<ChainNode>();
  const subscriptions = nodes.all.flatMap((node) => {
    if (node.wsUrl === null || feePayer === null) return [];
    const subscription = subscribe({
      wsUrl: node.wsUrl,
      address: feePayer.toBase58(),
      commitment: 'processed',
      onLogs({ signature, error }) {
        if (error === null) waiting.get(signature)?.();
      },
      onSubscribed: () => void reporting.add(node),
      onLost: () => void reporting.delete(node),
    });
    return [subscription];
  });

  async function poll(signature: string, isDone: () => boolean, stop: AbortSignal): Promise<void> {
    while (!isDone()) {
      const pollMs = reporting.size > 0 ? POLL_MS : POLL_ALONE_MS;
      await sleep(pollMs, undefined, { signal: stop }).catch(() => undefined);
      if (isDone()) return;
      if (await nodes.first((node) => isSeen(node, signature)).catch(() => false)) return;
    }
  }

  return {
    async untilSeen(signature, stop) {
      const ended = new AbortController();
      const end = () => ended.abort();
      const noticed = new Promise<void>((resolve) => waiting.set(signature, resolve));
      stop.addEventListener('abort', end, { once: true });
      if (stop.aborted) end();
      try {
        await Promise.race([noticed, poll(signature, () => ended.signal.aborted, ended.signal)]);
        return !stop.aborted;
      } finally {
        end();
        stop.removeEventListener('abort', end);
        waiting.delete(signature);
      }
    },
    close() {
      for (const subscription of subscriptions) subscription.close();
    },
  };
}

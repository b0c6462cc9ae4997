/** Sends stored transactions, and finds their outcome. */
import type { PublicKey, TransactionError } from '@solana/web3.js';
import type { Logger } from 'pino';
import { sendTransaction } from '../../solana/calls.ts';
import type { Finality } from '../../solana/finality.ts';
import { subscribe } from '../../solana/subscription.ts';
import type { SignedTransaction } from '../ledger/writing.ts';
import type { Agreement } from './agreement.ts';
import { describeFailure, type TransactionFailure } from './failures.ts';
import type { ChainNode, Nodes } from './nodes.ts';
import { createPoller, lateMs, type PolledOutcome } from './poller.ts';
import { type Observe, timed } from './stages.ts';

/**
 * The outcome of a transaction, which is final once it is known. `unknown` never means failed. `expired` means that the
 * blockhash has expired; only the record past that moment can prove that the transaction has not landed before.
 */
export type Outcome =
  | { kind: 'confirmed' }
  | ({ kind: 'failed'; slot: number } & TransactionFailure)
  | { kind: 'expired' }
  | { kind: 'unknown' };

export type Confirmations = ReturnType<typeof createConfirmations>;

export interface ConfirmationOptions {
  nodes: Nodes;
  agreement: Pick<Agreement, 'finalized' | 'together'>;
  finality: Finality;
  /** The accounts that pay for the transactions. */
  payers: readonly PublicKey[];
  log: Logger;
  /** Called when transactions land late or in time. */
  pace: { late(): void; inTime(): void };
  observe?: Observe | undefined;
}

/** One of the calls that wait for a transaction. */
interface Waiter {
  hasHappened(): Promise<boolean>;
  finish(outcome: Outcome): void;
}

/** A transaction on its way. */
interface Following {
  join(waiter: Waiter): void;
  leave(waiter: Waiter): void;
}

/** Subscribes at once to all transactions of the payers, at every node that has a WebSocket. */
export function createConfirmations(options: ConfirmationOptions) {
  const { nodes, log, pace, finality } = options;
  const following = new Map<string, Following>();
  /** Called with the outcome that a notification shows, by signature. */
  const waiting = new Map<string, (outcome: Outcome) => void>();
  // Nodes with a live subscription.
  const reporting = new Set<ChainNode>();
  const poller = createPoller({ ...options, send, isReported: () => reporting.size > 0, onLate: pace.late });

  function landed(slot: number, error: TransactionError | null): Outcome {
    for (const { reader } of nodes.all) reader.landed(slot);
    return error ? { kind: 'failed', slot, ...describeFailure(error) } : { kind: 'confirmed' };
  }

  // One subscription per node to all transactions of a payer, instead of one per transaction.
  const subscriptionsTo = (payer: PublicKey) =>
    nodes.all.flatMap((node) => {
      if (node.wsUrl === null) return [];
      const subscription = subscribe({
        wsUrl: node.wsUrl,
        address: payer.toBase58(),
        onLogs({ signature, slot, error }) {
          // Confirm a failure with a second node, if there is one.
          if (error && nodes.all.length > 1) poller.hurry(signature);
          else waiting.get(signature)?.(landed(Number(slot), error));
        },
        onSubscribed() {
          reporting.add(node);
          log.debug({ node: node.name }, 'subscribed to the transactions of this relay');
        },
        onLost(reason) {
          reporting.delete(node);
          log.debug({ node: node.name, reason }, 'the WebSocket connection is lost; polling until it is back');
        },
      });
      return [subscription];
    });
  const subscriptions = options.payers.flatMap(subscriptionsTo);

  /** Sends to every node, so that the bytes reach a leader as soon as possible. */
  async function send(bytes: Uint8Array): Promise<void> {
    try {
      await Promise.any(nodes.all.map((node) => nodes.ask(node, () => sendTransaction(node, bytes))));
    } catch (error) {
      // A refusal proves nothing about bytes that may have been sent before. Only their status does.
      const reasons = error instanceof AggregateError ? error.errors : [error];
      log.debug({ error: reasons.map(String).join('; ') }, 'no node accepted a transaction');
    }
  }

  function toOutcome(polled: PolledOutcome): Outcome {
    if (polled.kind === 'landed') return landed(polled.slot, polled.error);
    return polled.kind === 'happened' ? { kind: 'confirmed' } : { kind: 'expired' };
  }

  /** Sends the bytes and follows them until their outcome is known or nobody waits for it. */
  function follow(signed: SignedTransaction): Following {
    const { signature } = signed;
    const waiters = new Set<Waiter>();
    const finish = (outcome: Outcome) => {
      for (const waiter of waiters) waiter.finish(outcome);
    };
    // A landed transaction has its effect for all of them.
    const hasHappened = async () =>
      !(await Promise.all([...waiters].map((waiter) => waiter.hasHappened()))).includes(false);
    waiting.set(signature, finish);
    const unwatch = poller.watch({ signed, hasHappened, finish: (polled) => finish(toOutcome(polled)) });
    // Not awaited: a notification may be faster than the node's answer to the send.
    send(signed.bytes);
    return {
      join: (waiter) => void waiters.add(waiter),
      leave(waiter) {
        waiters.delete(waiter);
        if (waiters.size > 0) return;
        unwatch();
        waiting.delete(signature);
        following.delete(signature);
      },
    };
  }

  async function submit(
    signed: SignedTransaction,
    hasHappened: () => Promise<boolean>,
    stop: AbortSignal,
  ): Promise<Outcome> {
    if (stop.aborted) return { kind: 'unknown' };
    const begun = performance.now();
    let finish: (outcome: Outcome) => void = () => undefined;
    const outcome = new Promise<Outcome>((resolve) => {
      finish = resolve;
    });
    const abort = () => finish({ kind: 'unknown' });
    stop.addEventListener('abort', abort, { once: true });
    const waiter = { hasHappened, finish };
    const followed = following.get(signed.signature) ?? follow(signed);
    following.set(signed.signature, followed);
    followed.join(waiter);
    try {
      const known = await outcome;
      if (known.kind === 'confirmed' && performance.now() - begun < lateMs(finality)) pace.inTime();
      return known;
    } finally {
      followed.leave(waiter);
      stop.removeEventListener('abort', abort);
    }
  }

  return {
    /**
     * Sends stored bytes and waits for their outcome, by notification with polling as a fallback. It sends the same bytes
     * again meanwhile. `hasHappened` reads if the effect of the transaction is there, because the status may be missing.
     * Several calls may wait for the same transaction; it is sent once. `stop` ends the waiting with `unknown`. Never
     * rejects because of a node.
     */
    submit: (...given: Parameters<typeof submit>) => timed(options.observe, 'chain', () => submit(...given)),
    /** True if the transaction of this signature has landed without an error. Throws if the node does not answer. */
    async hasSucceeded(signature: string): Promise<boolean> {
      const status = await poller.status(signature);
      return status !== null && status.error === null;
    },
    close() {
      poller.end();
      for (const subscription of subscriptions) subscription.close();
    },
  };
}

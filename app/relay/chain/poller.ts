/**
 * Asks what became of all transactions that somebody waits for, 256 in one call, and sends again what has not landed.
 * While nobody waits it asks nothing.
 */
import type { Logger } from 'pino';
import { chunks } from '../../process/chunks.ts';
import { MAX_STATUSES, readStatuses, type SignatureStatus } from '../../solana/calls.ts';
import type { SignedTransaction } from '../ledger/writing.ts';
import type { Agreement } from './agreement.ts';
import type { ChainNode, Nodes } from './nodes.ts';

/** How often it is asked where notifications come too, and where none do. */
const POLL_MS = 1_000;
const POLL_ALONE_MS = 400;
/** A notification is given so long before the first question. */
const PATIENCE_MS = 900;
/** From then on it is asked too whether a blockhash has expired, and whether what a transaction is for is done. */
const DOUBT_MS = 1_500;
/** As of this age a transaction that has not landed is late: others pay more. A dozen slots. */
export const LATE_MS = 5_000;

export interface Pending {
  signed: SignedTransaction;
  /** Reads whether what the transaction is for is done. */
  hasHappened(): Promise<boolean>;
  finish(fate: PolledFate): void;
}

export type PolledFate = ({ kind: 'landed' } & SignatureStatus) | { kind: 'happened' } | { kind: 'expired' };

export interface Poller {
  /** Asks about it from now on; the returned function ends that. */
  watch(awaited: Pending): () => void;
  /** Asks about this one at once, as far as it is watched. */
  hurry(signature: string): void;
  /** What a node says of it, and a second one where it failed. Null where nothing is known that will stay. */
  status(signature: string): Promise<SignatureStatus | null>;
  end(): void;
}

interface Watched extends Pending {
  since: number;
  sentAt: number;
  nextAt: number;
}

export function createPoller(options: {
  nodes: Nodes;
  agreement: Pick<Agreement, 'finalized' | 'together'>;
  send(bytes: Uint8Array): Promise<void>;
  isTold(): boolean;
  /** Is told of each transaction that is late, again and again. */
  onLate(): void;
  log: Logger;
}): Poller {
  const { nodes, agreement, log } = options;
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;
  let isOver = false;

  function schedule(): void {
    if (timer !== undefined || isAsking || isOver || watched.size === 0) return;
    const next = Math.min(...[...watched.values()].map(({ nextAt }) => nextAt));
    // Not one by one: those that are due a moment later go along.
    const waitMs = Math.max(next - performance.now(), options.isTold() ? POLL_MS / 4 : POLL_ALONE_MS / 4);
    timer = setTimeout(look, waitMs);
  }

  async function look(): Promise<void> {
    timer = undefined;
    isAsking = true;
    const pollMs = options.isTold() ? POLL_MS : POLL_ALONE_MS;
    const now = performance.now();
    const due = [...watched.values()].filter(({ nextAt }) => nextAt <= now + pollMs / 4);
    for (const one of due) one.nextAt = now + pollMs;
    try {
      await decide(due);
    } catch (error) {
      log.warn({ error: String(error) }, 'the status of transactions could not be read');
      // What the node says may be lost, and not what it takes.
      await Promise.all(due.map(sendAgain));
    } finally {
      isAsking = false;
      schedule();
    }
  }

  async function decide(due: Watched[]): Promise<void> {
    const isDoubtful = ({ since }: Watched) => performance.now() - since >= DOUBT_MS;
    // The height first: what is unknown after it, and past it, has not landed.
    const height = due.some(isDoubtful) ? await heightNow() : null;
    const isPast = ({ signed }: Watched) => height !== null && height > signed.lastValidHeight;
    const old = due.filter((one) => isDoubtful(one) && isPast(one));
    const young = due.filter((one) => !old.includes(one));
    const parts = [
      ...chunks(old, MAX_STATUSES).map((part) => ({ part, isOld: true })),
      ...chunks(young, MAX_STATUSES).map((part) => ({ part, isOld: false })),
    ];
    await Promise.all(
      parts.map(async ({ part, isOld }) => {
        const statuses = await statusesOf(
          part.map(({ signed }) => signed.signature),
          isOld,
        );
        await Promise.all(part.map((one, index) => follow(one, statuses[index] ?? null, isOld)));
      }),
    );
  }

  async function follow(one: Watched, status: SignatureStatus | null, isPast: boolean): Promise<void> {
    if (status) return one.finish({ kind: 'landed', ...status });
    const age = performance.now() - one.since;
    if (age >= DOUBT_MS && (await one.hasHappened())) return one.finish({ kind: 'happened' });
    if (isPast) return one.finish({ kind: 'expired' });
    if (age >= LATE_MS) options.onLate();
    await sendAgain(one);
  }

  async function sendAgain(one: Watched): Promise<void> {
    if (!watched.has(one.signed.signature) || performance.now() - one.sentAt < PATIENCE_MS) return;
    one.sentAt = performance.now();
    await options.send(one.signed.bytes);
  }

  /** Null where it is not known now: nothing is past it then. */
  async function heightNow(): Promise<bigint | null> {
    try {
      return (await agreement.finalized()).blockHeight;
    } catch (error) {
      log.warn({ error: String(error) }, 'the finalized height could not be read');
      return null;
    }
  }

  /** By one node, and where it says that one failed by two: those that only one calls failed are not known yet. */
  async function statusesOf(signatures: string[], isOld: boolean): Promise<(SignatureStatus | null)[]> {
    const ask = (asked: string[]) => (node: ChainNode) => readStatuses(node, asked, isOld);
    const statuses = await nodes.first(ask(signatures));
    const failed = signatures.filter((_, index) => statuses[index]?.error);
    if (failed.length === 0 || nodes.witnesses().length < 2) return statuses;
    const agreed = await agreement.together('failed transactions', ask(failed), sameOf).catch(() => []);
    const known = new Map(failed.map((signature, index) => [signature, agreed[index] ?? null]));
    return statuses.map((status, index) => (status?.error ? (known.get(signatures[index]!) ?? null) : status));
  }

  return {
    watch(awaited) {
      const now = performance.now();
      const { signature } = awaited.signed;
      watched.set(signature, { ...awaited, since: now, sentAt: now, nextAt: now + PATIENCE_MS });
      schedule();
      return () => {
        watched.delete(signature);
        if (watched.size > 0) return;
        clearTimeout(timer);
        timer = undefined;
      };
    },
    hurry(signature) {
      const one = watched.get(signature);
      if (!one) return;
      one.nextAt = performance.now();
      clearTimeout(timer);
      timer = undefined;
      schedule();
    },
    status: async (signature) => (await statusesOf([signature], true))[0] ?? null,
    end() {
      isOver = true;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** What both say of each; null where they do not say the same of all. */
function sameOf(one: (SignatureStatus | null)[], other: (SignatureStatus | null)[]): typeof one | null {
  const textOf = (statuses: typeof one) => JSON.stringify(statuses.map((status) => status && { error: status.error }));
  return textOf(one) === textOf(other) ? one : null;
}

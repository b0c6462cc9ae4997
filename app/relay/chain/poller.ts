/**
 * Polls the status of all awaited transactions, 256 per call, and sends again those that have not landed. It does not
 * poll while nobody waits.
 */
import type { Logger } from 'pino';
import { chunks } from '../../process/chunks.ts';
import { MAX_STATUSES, readStatuses, type SignatureStatus } from '../../solana/calls.ts';
import type { Finality } from '../../solana/finality.ts';
import type { SignedTransaction } from '../ledger/writing.ts';
import type { Agreement } from './agreement.ts';
import type { ChainNode, Nodes } from './nodes.ts';

/** Poll interval with notifications, and without them. */
const POLL_MS = 1_000;
const POLL_ALONE_MS = 400;
/** Time for a notification before the first poll. A transaction is sent again this often, until it is final. */
const PATIENCE_MS = 900;
/**
 * From this age beyond a finality, it also checks if the blockhash has expired, and if the effect of the transaction is
 * there.
 */
const DOUBT_MS = 1_000;
/** A transaction that is not final at this age beyond a finality, eight slots of 200 ms, is late: others pay more. */
const LATE_MS = 2_000;
export const lateMs = ({ ms }: Finality): number => LATE_MS + ms;

export interface Pending {
  signed: SignedTransaction;
  /** Reads if the effect of the transaction is there. */
  hasHappened(): Promise<boolean>;
  finish(outcome: PolledOutcome): void;
}

export type PolledOutcome = ({ kind: 'landed' } & SignatureStatus) | { kind: 'happened' } | { kind: 'expired' };

interface Watched extends Pending {
  since: number;
  sentAt: number;
  nextAt: number;
}

interface PollerOptions {
  nodes: Nodes;
  agreement: Pick<Agreement, 'finalized' | 'together'>;
  finality: Finality;
  send(bytes: Uint8Array): Promise<void>;
  isReported(): boolean;
  /** Called for each late transaction, at every poll. */
  onLate(): void;
  log: Logger;
}

export function createPoller(options: PollerOptions) {
  const { log, finality } = options;
  const doubtMs = DOUBT_MS + finality.ms;
  const isDoubtful = ({ since }: Watched) => performance.now() - since >= doubtMs;
  const { heightNow, statusesOf } = createQuestions(options);
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;
  let isOver = false;

  function schedule(): void {
    if (timer !== undefined || isAsking || isOver || watched.size === 0) return;
    const next = Math.min(...[...watched.values()].map(({ nextAt }) => nextAt));
    // Batched: transactions that are due a moment later join.
    const waitMs = Math.max(next - performance.now(), options.isReported() ? POLL_MS / 4 : POLL_ALONE_MS / 4);
    timer = setTimeout(poll, waitMs);
  }

  async function poll(): Promise<void> {
    timer = undefined;
    isAsking = true;
    const pollMs = options.isReported() ? POLL_MS : POLL_ALONE_MS;
    const now = performance.now();
    const due = [...watched.values()].filter(({ nextAt }) => nextAt <= now + pollMs / 4);
    for (const one of due) one.nextAt = now + pollMs;
    try {
      await decide(due);
    } catch (error) {
      log.warn({ error }, 'cannot read the status of transactions');
      // The node may still accept transactions although its answers are lost.
      await Promise.all(due.map(sendAgain));
    } finally {
      isAsking = false;
      schedule();
    }
  }

  async function decide(due: Watched[]): Promise<void> {
    // Read first: a transaction past its last valid height that is unknown after this reading has not landed.
    const height = due.some(isDoubtful) ? await heightNow() : null;
    await Promise.all(
      batchesOf(due, height, isDoubtful).map(async ({ part, isOld }) => {
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
    if (age >= doubtMs && (await one.hasHappened())) return one.finish({ kind: 'happened' });
    if (isPast) return one.finish({ kind: 'expired' });
    if (age >= lateMs(finality)) options.onLate();
    await sendAgain(one);
  }

  async function sendAgain(one: Watched): Promise<void> {
    if (!watched.has(one.signed.signature) || performance.now() - one.sentAt < PATIENCE_MS) return;
    one.sentAt = performance.now();
    await options.send(one.signed.bytes);
  }

  return {
    /** Polls the transaction until the returned function is called. */
    watch(awaited: Pending): () => void {
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
    /** Polls this one at once, if it is watched. */
    hurry(signature: string): void {
      const one = watched.get(signature);
      if (!one) return;
      one.nextAt = performance.now();
      clearTimeout(timer);
      timer = undefined;
      schedule();
    },
    /** The status from one node; a failure needs a second one. Null if no final status is known. */
    status: async (signature: string): Promise<SignatureStatus | null> =>
      (await statusesOf([signature], true))[0] ?? null,
    end(): void {
      isOver = true;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** Splits the transactions into calls. `isOld`: no block can include them any more. */
function batchesOf(
  due: Watched[],
  height: bigint | null,
  isDoubtful: (one: Watched) => boolean,
): { part: Watched[]; isOld: boolean }[] {
  const isPast = ({ signed }: Watched) => height !== null && height > signed.lastValidHeight;
  const old = due.filter((one) => isDoubtful(one) && isPast(one));
  const young = due.filter((one) => !old.includes(one));
  return [
    ...chunks(old, MAX_STATUSES).map((part) => ({ part, isOld: true })),
    ...chunks(young, MAX_STATUSES).map((part) => ({ part, isOld: false })),
  ];
}

/** The questions to the nodes. */
function createQuestions({ nodes, agreement, log }: Pick<PollerOptions, 'nodes' | 'agreement' | 'log'>) {
  /** Null if it cannot be read: then no transaction counts as expired. */
  async function heightNow(): Promise<bigint | null> {
    try {
      return (await agreement.finalized()).blockHeight;
    } catch (error) {
      log.warn({ error }, 'cannot read the finalized height');
      return null;
    }
  }

  /** Asks one node, and two about transactions that it reports as failed. A failure reported by one node is unknown. */
  async function statusesOf(signatures: string[], isOld: boolean): Promise<(SignatureStatus | null)[]> {
    const ask = (asked: string[]) => (node: ChainNode) => readStatuses(node, asked, isOld);
    const statuses = await nodes.first(ask(signatures));
    const failed = signatures.filter((_, index) => statuses[index]?.error);
    if (failed.length === 0 || nodes.witnesses().length < 2) return statuses;
    const agreed = await agreement.together('failed transactions', ask(failed), sameOf).catch(() => []);
    const known = new Map(failed.map((signature, index) => [signature, agreed[index] ?? null]));
    return statuses.map((status, index) => (status?.error ? (known.get(signatures[index]!) ?? null) : status));
  }

  return { heightNow, statusesOf };
}

/** The answer that both gave; null if they differ. */
function sameOf(one: (SignatureStatus | null)[], other: (SignatureStatus | null)[]): typeof one | null {
  const textOf = (statuses: typeof one) => JSON.stringify(statuses.map((status) => status && { error: status.error }));
  return textOf(one) === textOf(other) ? one : null;
}

/**
 * Queues the calls of a wallet whose opens in flight, or those of the listing, are as many as allowed. They go on in
 * order of arrival. The ledger, which several relays share, decides which call may go on. The queue only keeps the order
 * of this process. A call that it cannot serve in time is refused at once.
 */
import type { Finality } from '../../../solana/finality.ts';
import { type ApiError, retryLater } from '../../errors.ts';

/** Maximum wait of a call for earlier opens to land, on a slow chain, and maximum calls of a wallet in the queue. */
const MAX_WAIT_MS = 30_000;
const MAX_WAITING = 2_000;
/** How long an open takes at least, besides its finality. */
const OPEN_MS = 250;
/** Poll interval while no event arrives: another relay's opens may have ended. */
const POLL_MS = 250;
const RETRY_SECONDS = 5;

/** A call's place in the queue. */
export interface Ticket {
  /** Waits for this call's turn again, at its old place. Throws ApiError 503 if that takes too long. */
  again(): Promise<void>;
  /** Tells the queue that the call is claimed or given up, so that others may go on. Call it once, at the end. */
  leave(): void;
}

export type OpenQueue = ReturnType<typeof createOpenQueue>;

interface Waiting {
  place: number;
  listing: string;
  go(): void;
  fail(error: unknown): void;
}

interface Queue {
  waiting: Waiting[];
  /** Calls that may go on and have not claimed yet. The ledger does not count them. */
  passing: number;
  isPolling: boolean;
  pollsAgain: boolean;
  timer?: NodeJS.Timeout;
}

/** True if one more call may try; otherwise the opens that may be in flight, one of which it waits for. */
export type Verdict = true | number;

/** `mayPass` returns the verdict while `passing` calls of the wallet already try. It throws ApiError. */
export function createOpenQueue(
  mayPass: (wallet: string, listing: string, passing: number) => Promise<Verdict>,
  finality: Pick<Finality, 'ms'>,
) {
  // Calls in the queue that one open after the other can serve in time.
  const inTime = Math.max(2, Math.floor(MAX_WAIT_MS / (finality.ms + OPEN_MS)));
  const queues = new Map<string, Queue>();

  /** Refuses the calls that cannot be served in time. The others keep their places. */
  function refuseLate(queue: Queue, opens: number): void {
    for (const { fail } of queue.waiting.splice(opens * inTime)) fail(tooMany());
  }

  async function passWhoMay(wallet: string, queue: Queue): Promise<void> {
    for (let head = queue.waiting[0]; head; head = queue.waiting[0]) {
      const verdict = await mayPass(wallet, head.listing, queue.passing).catch((error: unknown) => ({ error }));
      if (queue.waiting[0] !== head) continue;
      if (typeof verdict === 'number') return refuseLate(queue, verdict);
      queue.waiting.shift();
      if (verdict !== true) head.fail(verdict.error);
      else {
        queue.passing += 1;
        head.go();
      }
    }
  }

  async function poll(wallet: string): Promise<void> {
    const queue = queues.get(wallet);
    if (!queue) return;
    queue.pollsAgain = true;
    if (queue.isPolling) return;
    queue.isPolling = true;
    while (queue.pollsAgain) {
      queue.pollsAgain = false;
      await passWhoMay(wallet, queue);
    }
    queue.isPolling = false;
    clearTimeout(queue.timer);
    if (queue.waiting.length > 0) queue.timer = setTimeout(() => void poll(wallet), POLL_MS).unref();
    else if (queue.passing === 0) queues.delete(wallet);
  }

  function wait(wallet: string, listing: string, place: number): Promise<void> {
    const queue = queues.get(wallet) ?? { waiting: [], passing: 0, isPolling: false, pollsAgain: false };
    queues.set(wallet, queue);
    if (queue.waiting.length >= MAX_WAITING) throw tooMany();
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        place,
        listing,
        go() {
          clearTimeout(timer);
          resolve();
        },
        fail(error) {
          clearTimeout(timer);
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        queue.waiting = queue.waiting.filter((other) => other !== waiting);
        reject(tooMany());
        void poll(wallet);
      }, MAX_WAIT_MS);
      const at = queue.waiting.findIndex((other) => other.place > place);
      queue.waiting.splice(at < 0 ? queue.waiting.length : at, 0, waiting);
      void poll(wallet);
    });
  }

  return {
    /** Resolves at once if no call of the wallet waits. A call with a lower `place` goes first. Throws ApiError. */
    async enter(wallet: string, listing: string, place: number): Promise<Ticket> {
      let isPassing = false;
      const leave = () => {
        const queue = queues.get(wallet);
        if (!isPassing || !queue) return;
        isPassing = false;
        queue.passing -= 1;
        void poll(wallet);
      };
      const again = async () => {
        leave();
        await wait(wallet, listing, place);
        isPassing = true;
      };
      if (queues.has(wallet)) await again();
      return { again, leave };
    },
    /** An open of the wallet is no longer in flight. */
    wake: (wallet: string): void => void poll(wallet),
  };
}

const tooMany = (): ApiError =>
  retryLater(
    'Too many calls of this wallet, or of new callers of this agent, are being opened at this moment. A wallet may open one at a time, and one more for every four calls that it completed within a day. Nothing was charged.',
    RETRY_SECONDS,
  );

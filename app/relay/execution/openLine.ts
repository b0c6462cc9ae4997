/**
 * Queues the calls of a wallet whose opens in flight, or those of the listing, are as many as allowed. They go on in
 * order of arrival. The ledger, which several relays share, decides which call may go on. The queue only keeps the order
 * of this process. A call that it cannot serve in time is refused at once.
 */
import type { Finality } from '../../solana/finality.ts';
import { ApiError } from '../errors.ts';

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

export interface OpenLine {
  /** Resolves at once if no call of the wallet waits. A call with a lower `place` goes first. Throws ApiError. */
  enter(wallet: string, listing: string, place: number): Promise<Ticket>;
  /** An open of the wallet is no longer in flight. */
  wake(wallet: string): void;
}

interface Waiting {
  place: number;
  listing: string;
  go(): void;
  fail(error: unknown): void;
}

interface Line {
  waiting: Waiting[];
  /** Calls that may go on and have not claimed yet. The ledger does not count them. */
  passing: number;
  isLooking: boolean;
  looksAgain: boolean;
  timer?: NodeJS.Timeout;
}

/** True if one more call may try; otherwise the opens that may be in flight, one of which it waits for. */
export type Verdict = true | number;

/** `mayPass` returns the verdict while `passing` calls of the wallet already try. It throws ApiError. */
export function createOpenLine(
  mayPass: (wallet: string, listing: string, passing: number) => Promise<Verdict>,
  finality: Pick<Finality, 'ms'>,
): OpenLine {
  // Calls in the queue that one open after the other can serve in time.
  const inTime = Math.max(2, Math.floor(MAX_WAIT_MS / (finality.ms + OPEN_MS)));
  const lines = new Map<string, Line>();

  /** Refuses the calls that cannot be served in time. The others keep their places. */
  function refuseLate(line: Line, opens: number): void {
    for (const { fail } of line.waiting.splice(opens * inTime)) fail(tooMany());
  }

  async function passWhoMay(wallet: string, line: Line): Promise<void> {
    for (let head = line.waiting[0]; head; head = line.waiting[0]) {
      const verdict = await mayPass(wallet, head.listing, line.passing).catch((error: unknown) => ({ error }));
      if (line.waiting[0] !== head) continue;
      if (typeof verdict === 'number') return refuseLate(line, verdict);
      line.waiting.shift();
      if (verdict !== true) head.fail(verdict.error);
      else {
        line.passing += 1;
        head.go();
      }
    }
  }

  async function look(wallet: string): Promise<void> {
    const line = lines.get(wallet);
    if (!line) return;
    line.looksAgain = true;
    if (line.isLooking) return;
    line.isLooking = true;
    while (line.looksAgain) {
      line.looksAgain = false;
      await passWhoMay(wallet, line);
    }
    line.isLooking = false;
    clearTimeout(line.timer);
    if (line.waiting.length > 0) line.timer = setTimeout(() => void look(wallet), POLL_MS).unref();
    else if (line.passing === 0) lines.delete(wallet);
  }

  function wait(wallet: string, listing: string, place: number): Promise<void> {
    const line = lines.get(wallet) ?? { waiting: [], passing: 0, isLooking: false, looksAgain: false };
    lines.set(wallet, line);
    if (line.waiting.length >= MAX_WAITING) throw tooMany();
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
        line.waiting = line.waiting.filter((other) => other !== waiting);
        reject(tooMany());
        void look(wallet);
      }, MAX_WAIT_MS);
      const at = line.waiting.findIndex((other) => other.place > place);
      line.waiting.splice(at < 0 ? line.waiting.length : at, 0, waiting);
      void look(wallet);
    });
  }

  return {
    async enter(wallet, listing, place) {
      let isPassing = false;
      const leave = () => {
        const line = lines.get(wallet);
        if (!isPassing || !line) return;
        isPassing = false;
        line.passing -= 1;
        void look(wallet);
      };
      const again = async () => {
        leave();
        await wait(wallet, listing, place);
        isPassing = true;
      };
      if (lines.has(wallet)) await again();
      return { again, leave };
    },
    wake: (wallet) => void look(wallet),
  };
}

function tooMany(): ApiError {
  const message = `Too many calls of this wallet, or of new callers of this agent, are being opened at this moment. A wallet may open one at a time, and one more for every four calls that it completed within a day. Nothing was charged. Retry in ${RETRY_SECONDS} s.`;
  return new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_SECONDS });
}

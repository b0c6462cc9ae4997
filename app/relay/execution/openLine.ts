/**
 * Queues the calls of a wallet that has its maximum of opens in flight, or whose burnt budgets are full at the moment.
 * They go on in order of arrival. The ledger, which several relays share, decides which call may go on. The queue only
 * keeps the order of this process. A call that it cannot serve in time is refused within a second.
 */
import { ApiError } from '../errors.ts';

/** Maximum wait of a call for earlier opens to land, on a slow chain, and maximum calls of a wallet in the queue. */
const MAX_WAIT_MS = 30_000;
const MAX_WAITING = 2_000;
/** Maximum queued calls per open that the wallet may have in flight. On a chain without delays they take 15 s. */
const WAITING_FOR_ONE = 15;
/** Maximum wait for earlier calls that end only when their agents answer. */
const SOON_MS = 1_000;
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
  /** When the call came, on a monotonic clock, ms. */
  sinceMs: number;
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

/**
 * True if one more call may try. A number: the call waits for an open to land, and the wallet may have this many in
 * flight. `soon`: the call waits for agents, which may take long, so it is refused soon.
 */
export type Verdict = true | number | 'soon';

/** `mayPass` returns the verdict while `passing` calls of the wallet already try. It throws ApiError. */
export function createOpenLine(
  mayPass: (wallet: string, listing: string, passing: number) => Promise<Verdict>,
): OpenLine {
  const lines = new Map<string, Line>();

  /** Refuses the calls that cannot be served in time. The others keep their places. */
  function refuseLate(line: Line, verdict: number | 'soon'): void {
    const isLate = ({ sinceMs }: Waiting, at: number) =>
      verdict === 'soon' ? performance.now() - sinceMs >= SOON_MS : at >= verdict * WAITING_FOR_ONE;
    const late = line.waiting.filter(isLate);
    line.waiting = line.waiting.filter((waiting) => !late.includes(waiting));
    for (const { fail } of late) fail(tooMany());
  }

  async function passWhoMay(wallet: string, line: Line): Promise<void> {
    for (let head = line.waiting[0]; head; head = line.waiting[0]) {
      const verdict = await mayPass(wallet, head.listing, line.passing).catch((error: unknown) => ({ error }));
      if (line.waiting[0] !== head) continue;
      if (verdict === 'soon' || typeof verdict === 'number') return refuseLate(line, verdict);
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

  function wait(wallet: string, listing: string, place: number, sinceMs: number): Promise<void> {
    const line = lines.get(wallet) ?? { waiting: [], passing: 0, isLooking: false, looksAgain: false };
    lines.set(wallet, line);
    if (line.waiting.length >= MAX_WAITING) throw tooMany();
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        place,
        sinceMs,
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
      const sinceMs = performance.now();
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
        await wait(wallet, listing, place, sinceMs);
        isPassing = true;
      };
      if (lines.has(wallet)) await again();
      return { again, leave };
    },
    wake: (wallet) => void look(wallet),
  };
}

function tooMany(): ApiError {
  const message = `Too many calls in progress for this wallet, or for all new wallets together. Nothing was charged. Retry in ${RETRY_SECONDS} s.`;
  return new ApiError('service_unavailable', message, { retryAfterSeconds: RETRY_SECONDS });
}

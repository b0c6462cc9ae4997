/**
 * Calls of a wallet that has as many opens in flight as it may, or for which the burnt budgets have no room just now: they
 * wait in a line, and go on in the order in which they came. What may go on is decided by the ledger, which several relays
 * share; the line only keeps the order of this one.
 */
import { ApiError } from '../errors.ts';

/** How long a call waits for its turn, and how many of a wallet may. */
const MAX_WAIT_MS = 30_000;
const MAX_WAITING = 2_000;
/** How often the ledger is asked while nothing is heard: another relay's opens may have ended. */
const POLL_MS = 250;
const RETRY_SECONDS = 5;

/** A call's place. */
export interface Ticket {
  /** Waits until it is this call's turn again, at its old place. Throws ApiError 503 where that takes too long. */
  again(): Promise<void>;
  /** The call is claimed or given up; others may go on. To be called once, at the end. */
  leave(): void;
}

export interface OpenLine {
  /** Resolves at once where nobody of the wallet waits. `place`: who has a lower one goes first. Throws ApiError. */
  enter(wallet: string, listing: string, place: number): Promise<Ticket>;
  /** An open of the wallet is in flight no longer. */
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
  /** Calls that may go on and have not claimed yet: the ledger does not count them. */
  passing: number;
  isLooking: boolean;
  looksAgain: boolean;
  timer?: NodeJS.Timeout;
}

/** `mayPass` says whether one more call of a wallet may try, beside so many that try already; it throws ApiError. */
export function createOpenLine(
  mayPass: (wallet: string, listing: string, passing: number) => Promise<boolean>,
): OpenLine {
  const lines = new Map<string, Line>();

  async function passWhoMay(wallet: string, line: Line): Promise<void> {
    for (let head = line.waiting[0]; head; head = line.waiting[0]) {
      const verdict = await mayPass(wallet, head.listing, line.passing).catch((error: unknown) => ({ error }));
      if (line.waiting[0] !== head) continue;
      if (verdict === false) return;
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
    const tooLong = () =>
      new ApiError(
        'service_unavailable',
        'As many calls are under way as may be at once, of this wallet or of all that have not paid yet',
        {
          retryAfterSeconds: RETRY_SECONDS,
        },
      );
    if (line.waiting.length >= MAX_WAITING) throw tooLong();
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
        reject(tooLong());
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

/**
 * How long the SOL of a fee payer lasts, by its balance and the network fees that it paid beyond those that callers paid
 * for. Rent that is lent comes back, so it is not spending.
 */
import type { Logger } from 'pino';
import { runEvery } from '../waiting.ts';

/** Spending is averaged over this time. */
const WINDOW_MS = 6 * 3_600_000;
/** A young process has too little data to extrapolate, so spending is divided by at least one hour. */
const MIN_WINDOW_MS = 3_600_000;

export interface RunwayLimits {
  /** New executions stop below either limit; 0 switches one off. */
  minHours: number;
  minLamports: number;
  /** Time between two readings of the balance. */
  pollSeconds: number;
}

export interface RunwayStatus {
  /** Null before the first reading. */
  lamports: number | null;
  /** Null while nothing is spent. */
  hours: number | null;
}

export type Runway = ReturnType<typeof createRunway>;

/** `onChange` gets the missing lamports after each reading; 0 if there are enough. */
export function createRunway(options: {
  readBalance(): Promise<number>;
  limits: RunwayLimits;
  /** The owner of the SOL, and the requests that are refused without it, for the log. */
  whose: string;
  refuses: string;
  onChange(missing: number): void;
  log: Logger;
  /** Milliseconds. */
  now(): number;
}) {
  const { limits, whose, refuses, log } = options;
  let samples: { at: number; lamports: number; spent: number }[] = [];
  let spent = 0;
  let stop: (() => Promise<void>) | undefined;
  let wasLow = false;

  /** Lamports; 0 while nothing is spent. */
  function spentAnHour(): number {
    const sum = samples.slice(1).reduce((total, sample) => total + sample.spent, 0);
    const spanMs = Math.max(MIN_WINDOW_MS, (samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0));
    return Math.max(0, (sum * 3_600_000) / spanMs);
  }

  function status(): RunwayStatus {
    const lamports = samples.at(-1)?.lamports ?? null;
    const perHour = spentAnHour();
    return { lamports, hours: lamports === null || perHour === 0 ? null : lamports / perHour };
  }

  /** Reads the balance once; throws if the node does not answer. */
  async function poll(): Promise<void> {
    const lamports = await options.readBalance();
    const at = options.now();
    samples.push({ at, lamports, spent });
    spent = 0;
    samples = samples.filter((sample) => at - sample.at <= WINDOW_MS);
    const { hours } = status();
    const least = Math.max(limits.minLamports, Math.ceil(spentAnHour() * limits.minHours));
    const isLow = lamports < least;
    if (isLow !== wasLow) {
      if (isLow)
        log.error({ lamports, hours }, `the ${whose} has too little SOL; ${refuses} are refused until it is funded`);
      else log.info({ lamports, hours }, `the ${whose} has enough SOL again`);
    }
    wasLow = isLow;
    options.onChange(isLow ? least - lamports : 0);
  }

  return {
    poll,
    /** Counts network fees; a negative amount was collected from callers. */
    spend(lamports: bigint): void {
      spent += Number(lamports);
    },
    status,
    /** Reads regularly from now on, until `end`. */
    start(): void {
      stop = runEvery(limits.pollSeconds * 1_000, poll, (error) =>
        log.warn({ error }, `cannot read the balance of the ${whose}`),
      );
    },
    end: () => void stop?.(),
  };
}

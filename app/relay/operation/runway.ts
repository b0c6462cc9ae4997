/**
 * How long the fee payer's SOL lasts: its balance, and what has gone out of it lately. Rent that comes back is no
 * spending, and neither is a top-up a negative one.
 */
import type { Logger } from 'pino';

const LOOK_MS = 30_000;
/** Long enough that rent which is out for one execution does not count. */
const WINDOW_MS = 6 * 3_600_000;
/** A young process has seen too little to multiply it: the first hour counts as a whole one. */
const MIN_WINDOW_MS = 3_600_000;
/** More than executions in flight have in rent: such a rise is a top-up, lamports. */
const TOP_UP_LAMPORTS = 100_000_000;

export interface RunwayLimits {
  /** New executions stop below either of them; 0 switches one off. */
  minHours: number;
  minLamports: number;
}

export interface RunwayStatus {
  /** Null before the first look. */
  lamports: number | null;
  /** Null while nothing is spent. */
  hours: number | null;
}

export interface Runway {
  /** Reads the balance once; throws where the node does not answer. */
  look(): Promise<void>;
  status(): RunwayStatus;
  /** Looks regularly from now on, until `end`. */
  start(): void;
  end(): void;
}

/** `onChange` is told after each look whether the balance is too low. */
export function createRunway(options: {
  readBalance(): Promise<number>;
  limits: RunwayLimits;
  onChange(isLow: boolean): void;
  log: Logger;
  /** Milliseconds. */
  now(): number;
}): Runway {
  const { limits, log } = options;
  let samples: { at: number; lamports: number; spent: number }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let wasLow = false;

  function status(): RunwayStatus {
    const last = samples.at(-1);
    if (!last) return { lamports: null, hours: null };
    const spent = samples.slice(1).reduce((sum, sample) => sum + sample.spent, 0);
    if (spent <= 0) return { lamports: last.lamports, hours: null };
    const spanMs = Math.max(MIN_WINDOW_MS, last.at - samples[0]!.at);
    return { lamports: last.lamports, hours: (last.lamports * spanMs) / spent / 3_600_000 };
  }

  async function look(): Promise<void> {
    const lamports = await options.readBalance();
    const at = options.now();
    const change = (samples.at(-1)?.lamports ?? lamports) - lamports;
    samples.push({ at, lamports, spent: change < -TOP_UP_LAMPORTS ? 0 : change });
    samples = samples.filter((sample) => at - sample.at <= WINDOW_MS);
    const { hours } = status();
    const isLow = lamports < limits.minLamports || (hours !== null && hours < limits.minHours);
    if (isLow !== wasLow) {
      if (isLow) log.error({ lamports, hours }, 'the fee payer is short of SOL; nothing new is accepted');
      else log.info({ lamports, hours }, 'the fee payer has enough SOL again');
    }
    wasLow = isLow;
    options.onChange(isLow);
  }

  return {
    look,
    status,
    start() {
      timer = setInterval(() => {
        look().catch((error) => log.warn({ error: String(error) }, "the fee payer's balance could not be read"));
      }, LOOK_MS);
      timer.unref();
    },
    end: () => clearInterval(timer),
  };
}

/** The events of one chaos run, drawn from a seed: the same seed gives the same plan. */
import { FAULTS, type FaultName } from './faults.ts';

/** The creator's behaviours, each with the expected outcome of the execution. */
export const BEHAVIOURS = {
  good: 'completed',
  slow: 'completed',
  'unavailable at first': 'completed',
  'cut at first': 'completed',
  failed: 'failed',
  'status 500': 'failed',
  garbage: 'failed',
  'wrong hash': 'failed',
  'wrong id': 'failed',
  'wrong key': 'failed',
  hangs: 'timeout',
  drips: 'timeout',
} as const;
export type BehaviourName = keyof typeof BEHAVIOURS;

const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

export interface PlannedExecution {
  behaviour: BehaviourName;
  /** Index of the caller, 0 or 1. */
  caller: number;
  async: boolean;
  /** Milliseconds after the start, like all times below. */
  atMs: number;
}

/** The process that is killed, or the database that goes away. */
export type Victim = 'relay 0' | 'relay 1' | 'indexer' | 'database killed' | 'database stopped';
/** By the number of relays on PostgreSQL. On SQLite, relay, indexer and database are one process. */
const VICTIMS: Record<1 | 2, readonly Victim[]> = {
  1: ['relay 0', 'indexer', 'database killed', 'database stopped'],
  2: ['relay 0', 'relay 1', 'indexer', 'database killed', 'database stopped'],
};

export interface Plan {
  executions: PlannedExecution[];
  faults: { name: FaultName; atMs: number; lastsMs: number }[];
  kills: { victim: Victim; atMs: number }[];
}

/** Numbers in [0, 1) from a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SPREAD_MS = 2_500;

export function makePlan(seed: number, executions: number, relays: 1 | 2, isOnPostgres: boolean): Plan {
  const victims: readonly Victim[] = isOnPostgres ? VICTIMS[relays] : ['relay 0'];
  const random = randomFrom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const between = (low: number, high: number) => Math.round(low + random() * (high - low));
  const names = Object.keys(BEHAVIOURS) as BehaviourName[];
  let faultAt = 0;
  return {
    executions: Array.from({ length: executions }, () => ({
      // At least half of them are to be paid.
      behaviour: random() < 0.5 ? pick(names.filter((name) => BEHAVIOURS[name] === 'completed')) : pick(names),
      caller: between(0, 1),
      async: random() < 0.3,
      atMs: between(0, SPREAD_MS),
    })),
    faults: Array.from({ length: between(2, 4) }, () => {
      const atMs = faultAt + between(100, 900);
      const lastsMs = between(200, 1_200);
      faultAt = atMs + lastsMs;
      return { name: pick(FAULT_NAMES), atMs, lastsMs };
    }),
    kills: Array.from({ length: random() < 0.3 ? 2 : 1 }, () => between(300, SPREAD_MS + 500))
      .concat(victims.length > 1 ? [between(300, SPREAD_MS + 500)] : [])
      .sort((a, b) => a - b)
      .map((atMs) => ({ victim: pick(victims), atMs })),
  };
}

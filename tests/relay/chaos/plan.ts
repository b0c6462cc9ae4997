/** The events of one chaos run, drawn from a seed: the same seed gives the same plan. */
import { createRandom } from '../../harness/random.ts';
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

/** What is killed: a process, or the database that goes away. */
const RELAYS = ['relay 0', 'relay 1'] as const;
const OTHERS = ['indexer', 'database killed', 'database stopped'] as const;
export type Victim = (typeof RELAYS | typeof OTHERS)[number];

export interface Plan {
  executions: PlannedExecution[];
  faults: { name: FaultName; atMs: number; lastsMs: number }[];
  kills: { victim: Victim; atMs: number }[];
}

const SPREAD_MS = 2_500;

export function makePlan(seed: number, executions: number): Plan {
  const { below, pick } = createRandom(seed);
  const isOneOf = (parts: number) => below(parts) === 0;
  const between = (low: number, high: number) => low + below(high - low + 1);
  const killOf = (victims: readonly Victim[]) => ({ victim: pick(victims), atMs: between(300, SPREAD_MS + 500) });
  const names = Object.keys(BEHAVIOURS) as BehaviourName[];
  let faultAt = 0;
  return {
    executions: Array.from({ length: executions }, () => ({
      // At least half of them are to be paid.
      behaviour: pick(isOneOf(2) ? names.filter((name) => BEHAVIOURS[name] === 'completed') : names),
      caller: between(0, 1),
      async: isOneOf(3),
      atMs: between(0, SPREAD_MS),
    })),
    faults: Array.from({ length: between(2, 4) }, () => {
      const atMs = faultAt + between(100, 900);
      const lastsMs = between(200, 1_200);
      faultAt = atMs + lastsMs;
      return { name: pick(FAULT_NAMES), atMs, lastsMs };
    }),
    kills: [killOf(RELAYS), killOf(OTHERS), killOf([...RELAYS, ...OTHERS])].sort((a, b) => a.atMs - b.atMs),
  };
}

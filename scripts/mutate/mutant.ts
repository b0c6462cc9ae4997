/** Result of the tests of one mutant. */
export type Outcome = 'killed' | 'survived' | 'timeout';

export interface Verdict {
  outcome: Outcome;
  /** The first test that failed. */
  by?: string;
  seconds: number;
}

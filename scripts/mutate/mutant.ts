/** What every mutant is, whether it is made in the binary or in the source. */

export interface Mutant {
  kind: 'guard' | 'constraint';
  /** The same in every run over the same source. */
  id: string;
  /** Path from the workspace's root, and line from 1. */
  file: string;
  line: number;
  /** What is taken away, on one line. */
  text: string;
  /** Name of the error that its absence keeps away, where the source names one. */
  error: string | null;
}

/** What the tests made of a mutant. `absent` is a check that the binary does not hold. */
export type Outcome = 'killed' | 'survived' | 'timeout' | 'uncompilable' | 'absent';

export interface Verdict {
  outcome: Outcome;
  /** The first test that failed. */
  by?: string;
  seconds: number;
}

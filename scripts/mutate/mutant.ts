/** The common fields of all mutants, made in the binary or in the source. */

export interface Mutant {
  kind: 'program' | 'relay';
  /** Identical in every run over the same source. */
  id: string;
  /** Path relative to the workspace's root, and line from 1. */
  file: string;
  line: number;
  /** The removed or changed text, on one line. */
  text: string;
  /** Name of the error that the removed check returns, if the source names one. */
  error: string | null;
}

/** Result of the tests. `absent`: the binary does not contain the check. */
export type Outcome = 'killed' | 'survived' | 'timeout' | 'absent';

export interface Verdict {
  outcome: Outcome;
  /** The first test that failed. */
  by?: string;
  seconds: number;
}

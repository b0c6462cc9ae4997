/** Mutants that no test can kill, with the reason. Identified by file and text, because line numbers change. */

export interface Explained {
  /** The end of the file's path. */
  file: string;
  /** The condition or constraint, as shown in the report. */
  text: string;
  why: string;
}

export const EXPLAINED: Explained[] = [
  {
    file: 'state/config.rs',
    text: 'tiers.len() <= self.tiers.len()',
    why: 'the account has room for four tiers; a count of five makes used_tiers empty, which the invariant refuses with the same error',
  },
];

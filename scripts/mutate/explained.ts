/** Mutants that no test can kill, and why. Each is named by its file and its text, since lines move. */

export interface Explained {
  /** End of the file's path. */
  file: string;
  /** The condition or constraint as the report shows it. */
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

/** Tests that run together in one process, and their database. */
export interface Suite {
  /** Usually the last part of the folder's name, or begins with it. */
  name: string;
  about: string;
  /** A folder below tests/, with all test files in it and below it. None for tests that cargo runs. */
  folder?: string;
  /** If set, only these files of the folder, without `.test.ts`. */
  files?: string[];
  /** All files except these. */
  without?: string[];
  /** Defaults: a variable that the caller has set counts instead. */
  env?: Record<string, string>;
  /** A file with hooks of the whole suite. Path from the root. */
  hooks?: string;
  /** Runs by default only in `npm run test:all`: it takes minutes, and everyday suites cover each feature once. */
  long?: true;
}

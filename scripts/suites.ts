/** The suites of `npm test`: which tests run together in one process, on which database, and beside which others. */

export interface Suite {
  /** The last part of its folder's name. */
  name: string;
  about: string;
  /** Below tests/; every test file in it and below it. None for the tests that cargo runs. */
  folder?: string;
  /** Only these files of it, without `.test.ts`. */
  files?: string[];
  /** All but these. */
  without?: string[];
  env?: Record<string, string>;
  /** Root hooks for the whole suite, path from the root. */
  hooks?: string;
  /** No other runs beside it: it measures, or makes the page in its place, as `npm start` does. */
  alone?: true;
}

const COVERAGE = 'tests/program/coverage.ts';

/** On PostgreSQL instead of SQLite. */
const POSTGRES = { DATABASE: 'postgres' };

/**
 * In the order in which a fault shows soonest: the cheap ones first, then those that run long, and between them and what
 * runs alone the short ones, so that no lane stands idle for long while the other ends.
 */
export const SUITES: Suite[] = [
  { name: 'rust', about: "the program's own unit tests" },
  { name: 'sdk', about: 'what everybody imports', folder: 'sdk', alone: true },
  {
    name: 'program',
    about: 'the program on the current runtime',
    folder: 'program',
    env: { VM: 'litesvm' },
    hooks: COVERAGE,
  },
  {
    name: 'program-bankrun',
    about: 'the program on an old runtime',
    folder: 'program',
    env: { VM: 'bankrun' },
    hooks: COVERAGE,
  },
  { name: 'creators', about: 'the demo creators', folder: 'creators' },
  { name: 'database', about: 'PostgreSQL, and what both databases have in common', folder: 'database' },
  { name: 'api', about: 'the API over real tables', folder: 'relay/api', alone: true },
  { name: 'api-postgres', about: 'the API over tables in PostgreSQL', folder: 'relay/api', env: POSTGRES, alone: true },
  {
    name: 'contract',
    about: 'the published document: the API against it by schemathesis, clients generated from it, linters',
    folder: 'contract',
    alone: true,
  },
  { name: 'operation', about: 'stopping, backups, reconciling, logs and metrics', folder: 'relay/operation' },
  {
    name: 'operation-postgres',
    about: 'stopping, reconciling, journal and metrics, on PostgreSQL',
    folder: 'relay/operation',
    // No database is in gate, listedAgents and threads. The rest is about SQLite's own files, transactions and locks; what
    // PostgreSQL has instead of them is tested in tests/database (postgres, several) and in restoring.
    without: ['backup', 'gate', 'groupCommit', 'leases', 'listedAgents', 'threads'],
    env: POSTGRES,
  },
  { name: 'kills', about: 'the relay killed at every step', folder: 'relay/kills' },
  {
    name: 'kills-postgres',
    about: 'relays and PostgreSQL itself killed',
    folder: 'relay/kills',
    env: POSTGRES,
  },
  { name: 'chaos', about: 'kills, faults and bad creators by seed', folder: 'relay/chaos' },
  {
    name: 'chaos-postgres',
    about: 'the same with one relay and with two, a standby indexer and their database',
    folder: 'relay/chaos',
    env: POSTGRES,
  },
  { name: 'rpc', about: 'the relay behind a node with faults', folder: 'relay/rpc' },
  { name: 'rpc-postgres', about: 'the same on PostgreSQL', folder: 'relay/rpc', env: POSTGRES },
  { name: 'indexer', about: 'events to tables, on a real node', folder: 'indexer' },
  {
    name: 'indexer-postgres',
    about: 'events to tables, on PostgreSQL',
    folder: 'indexer',
    // SQLite's own files and what SQLite's migrations make, step by step (PostgreSQL's are in tests/database: postgres, twins);
    // and settings, which touch no database.
    without: ['database', 'schema', 'settings'],
    env: POSTGRES,
  },
  { name: 'calls', about: 'paid calls, on a real node', folder: 'relay/calls' },
  { name: 'calls-postgres', about: 'paid calls, on PostgreSQL', folder: 'relay/calls', env: POSTGRES },
  { name: 'misbehaviour', about: 'creators that do everything wrong', folder: 'relay/misbehaviour' },
  { name: 'misbehaviour-postgres', about: 'the same on PostgreSQL', folder: 'relay/misbehaviour', env: POSTGRES },
  { name: 'integrator', about: 'the program by Anchor and its IDL alone', folder: 'integrator' },
  { name: 'cli', about: 'the command line', folder: 'cli', alone: true },
  { name: 'docs', about: 'the pages: every command and link in them', folder: 'docs', alone: true },
  { name: 'local', about: 'npm start', folder: 'local', alone: true },
  {
    name: 'dashboard',
    about: 'the page, in a real Chromium on a running network',
    folder: 'dashboard',
    alone: true,
  },
  { name: 'journey', about: 'everything together, as a newcomer meets it', folder: 'journey', alone: true },
];

/** The suites of `npm test` and `npm run test:all`: tests that run together in one process, and their database. */

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
  env?: Record<string, string>;
  /** A file with hooks of the whole suite. Path from the root. */
  hooks?: string;
  /** Runs by default only in `npm run test:all`: it takes minutes, and everyday suites cover each feature once. */
  long?: true;
}

const COVERAGE = 'tests/program/coverage.ts';

/**
 * Runs on PostgreSQL instead of SQLite. A file runs on both databases only if its outcome can depend on the database:
 * locks, leases, several relays, recovery, or its own SQL. `files` lists them.
 */
const POSTGRES = { DATABASE: 'postgres' };

/** Files of relay/operation that wait for faults and timeouts. */
const FAULTS = [
  'backup',
  'leases',
  'reconcile',
  'restoring',
  'sharedAuthority',
  'shutdown',
  'start',
  'storage',
  'storageAway',
  'threads',
];

/** Files of indexer that repeatedly lose a process, a node or its history. */
const GAPS = ['gaps', 'process', 'pruned', 'rebuild', 'schedules', 'story'];

/** Files of relay/calls that make many calls each, at a limit. */
const LIMITS = ['handOver', 'protection', 'reservations'];

/** Files of cli that start many commands. */
const COMMANDS = ['aftermath', 'busy', 'commandLines', 'outcome'];

/**
 * Files of dashboard that need their own network: an upheld dispute pauses an agent that the other files call. The list
 * splits the dashboard into two suites of similar duration.
 */
const OPERATED = ['admin', 'aftermath', 'signIn', 'statements', 'verify'];

/**
 * Longest first, everyday and long ones apart, so that all lanes end at about the same time. The validator spends most
 * of its time waiting for slots, so it starts first.
 */
export const SUITES: Suite[] = [
  { name: 'validator', about: "everything on Agave's own validator", folder: 'validator', long: true },
  {
    name: 'dashboard',
    about: 'the page for callers and creators, in a real Chromium on a running network',
    folder: 'dashboard',
    without: [...OPERATED, 'accessible', 'changes', 'faults', 'slowLine'],
  },
  {
    name: 'dashboard-operated',
    about: 'the page for the admin, and what follows disputes and statements, on a network of its own',
    folder: 'dashboard',
    files: OPERATED,
  },
  {
    name: 'operation',
    about: 'logs, limits, lists and metrics',
    folder: 'relay/operation',
    without: ['archiveNodes', 'economy', 'rentChange', 'sweeper', ...FAULTS],
  },
  { name: 'cli', about: 'the command line', folder: 'cli', without: [...COMMANDS, 'templates'] },
  { name: 'indexer', about: 'events to tables, on a real node', folder: 'indexer', without: GAPS },
  {
    name: 'program',
    about: 'the program on the current runtime',
    folder: 'program',
    // Covered by `program-bankrun`.
    without: ['rents'],
    env: { VM: 'litesvm' },
    hooks: COVERAGE,
  },
  { name: 'calls', about: 'paid calls, on a real node', folder: 'relay/calls', without: LIMITS },
  { name: 'local', about: 'npm start', folder: 'local', without: ['apart', 'external', 'fullDisk', 'postgres'] },
  { name: 'api', about: 'the API over real tables', folder: 'relay/api' },
  { name: 'journey', about: 'everything together, as a newcomer meets it', folder: 'journey' },
  { name: 'sdk', about: 'what everybody imports', folder: 'sdk', without: ['package'] },
  {
    name: 'clients',
    about: 'the clients for callers, by one table of behaviours, on a real marketplace',
    folder: 'clients',
    files: ['typescript', 'webhooks'],
  },
  { name: 'docs', about: 'the pages: every command and link in them', folder: 'docs' },
  { name: 'creators', about: 'the demo creators', folder: 'creators' },
  { name: 'mcp', about: 'AI agents as buyers: the MCP server, by the official client', folder: 'mcp', files: ['mcp'] },
  {
    name: 'x402',
    about: 'calls that x402 clients pay for',
    folder: 'relay/x402',
    without: ['attacks', 'budgets', 'interrupted'],
  },
  { name: 'integrator', about: 'the program by Anchor and its IDL alone', folder: 'integrator' },

  {
    name: 'operation-postgres',
    about: 'reconciling, restoring, journal and lists, on PostgreSQL',
    folder: 'relay/operation',
    files: [
      'executionLists',
      'journal',
      'queryPlans',
      'reconcile',
      'restoring',
      'results',
      'resultsInPieces',
      'revocations',
      'rowsTouched',
      'sharedAuthority',
      'sharedKeys',
      'storageAway',
      'waitingRefunds',
    ],
    env: POSTGRES,
    long: true,
  },
  { name: 'rpc', about: 'the relay behind a node with faults', folder: 'relay/rpc', long: true },
  {
    name: 'indexer-faults',
    about: 'events to tables: lost logs, processes and history, and an index built again',
    folder: 'indexer',
    files: GAPS,
    long: true,
  },
  {
    name: 'indexer-postgres',
    about: 'events to tables, on PostgreSQL',
    folder: 'indexer',
    files: ['apply', 'rebuild', 'schedules', 'story', 'verify'],
    env: { ...POSTGRES, SCHEDULES: '20' },
    long: true,
  },
  {
    name: 'chaos-postgres',
    about: 'the same with one relay and with two, a standby indexer and their database',
    folder: 'relay/chaos',
    env: POSTGRES,
    long: true,
  },
  {
    name: 'kills-postgres',
    about: 'relays and PostgreSQL itself killed',
    folder: 'relay/kills',
    env: POSTGRES,
    long: true,
  },
  {
    name: 'economy',
    about: "attacks on the operator's SOL by a hundred wallets",
    folder: 'relay/operation',
    files: ['economy'],
    long: true,
  },
  {
    name: 'contract',
    about: 'what generators and linters make of OpenAPI document and IDL: schemathesis, clients, Codama',
    folder: 'contract',
    long: true,
  },
  {
    name: 'clients-packages',
    about:
      'the packages for callers and creators: built, installed into empty folders, and on a real marketplace; Deno, Bun, workerd',
    folder: 'clients',
    files: ['python', 'typescriptPackage'],
    long: true,
  },
  { name: 'chaos', about: 'kills, faults and bad creators by seed', folder: 'relay/chaos', long: true },
  { name: 'kills', about: 'the relay killed at every step', folder: 'relay/kills', long: true },
  {
    name: 'mcp-hosts',
    about: 'docs/agents.md by hosts that are not ours: the packed package, the Inspector, Python',
    folder: 'mcp',
    files: ['hosts'],
    long: true,
  },
  {
    name: 'sweeper',
    about: 'rent that comes back: archiving and closing what has ended',
    folder: 'relay/operation',
    files: ['archiveNodes', 'rentChange', 'sweeper'],
    long: true,
  },
  {
    name: 'x402-postgres',
    about: 'calls that x402 clients pay for, on PostgreSQL',
    folder: 'relay/x402',
    without: ['attacks'],
    env: POSTGRES,
    long: true,
  },
  {
    name: 'x402-attacks',
    about: 'what strangers, payers, forks and dead relays do to payments of x402, and what the operator risks by them',
    folder: 'relay/x402',
    files: ['attacks', 'budgets', 'interrupted'],
    long: true,
  },
  {
    name: 'x402-clients',
    about: 'clients of x402 that are not ours, in TypeScript and Python, over HTTP and MCP',
    folder: 'x402',
    long: true,
  },
  {
    name: 'calls-postgres',
    about: 'keys, budgets and reservations that relays share, on PostgreSQL',
    folder: 'relay/calls',
    files: ['callKeys', 'gas', 'idempotency', 'keys', 'protection', 'reservations'],
    env: POSTGRES,
    long: true,
  },
  {
    name: 'fuzz',
    about: 'the program under more random sequences and signatures than `program` tries',
    folder: 'program',
    files: ['fuzz/fuzz', 'signature'],
    // The suite `program` runs the seeds before these.
    env: { VM: 'litesvm', SEED: '101', RUNS: '100', ROUNDS: '1000' },
    long: true,
  },
  {
    name: 'local-elsewhere',
    about: 'npm start on a node that runs already, on a PostgreSQL of its own and on a full disk, and its parts apart',
    folder: 'local',
    files: ['apart', 'external', 'fullDisk', 'postgres'],
    long: true,
  },
  {
    name: 'operation-faults',
    about: 'backups, reconciling, leases; a relay that stops, or whose disk or storage fails',
    folder: 'relay/operation',
    files: FAULTS,
    long: true,
  },
  {
    name: 'calls-limits',
    about: 'reservations, the protection of the fee payer, and refunds that callers cannot receive',
    folder: 'relay/calls',
    files: LIMITS,
    long: true,
  },
  {
    name: 'sdk-package',
    about: 'the package of the SDK: built, and installed into empty folders',
    folder: 'sdk',
    files: ['package'],
    long: true,
  },
  { name: 'misbehaviour', about: 'creators that do everything wrong', folder: 'relay/misbehaviour', long: true },
  {
    name: 'dashboard-faults',
    about: 'every view of the page by axe; the page on a slow line, and of a marketplace or node that does not answer',
    folder: 'dashboard',
    files: ['accessible', 'changes', 'faults', 'slowLine'],
    long: true,
  },
  {
    name: 'api-postgres',
    about: 'what the API reads and writes, on PostgreSQL',
    folder: 'relay/api',
    files: [
      'agents',
      'creatorPages',
      'databaseAway',
      'disputes',
      'events',
      'executionPages',
      'executions',
      'keys',
      'management',
      'metadata',
      'pageSessions',
      'receipts',
      'repeats',
      'results',
      'search',
      'trial',
      'webhooks',
    ],
    env: POSTGRES,
    long: true,
  },
  { name: 'database', about: 'PostgreSQL, and what both databases have in common', folder: 'database', long: true },
  {
    name: 'templates',
    about: 'folders of `creator new`, installed outside of this project, tested, listed and paid',
    folder: 'cli',
    files: ['templates'],
    long: true,
  },
  {
    name: 'command-lines',
    about: 'every npm command: its help, what it refuses, and what it says of a busy service or a bad node',
    folder: 'cli',
    files: COMMANDS,
    long: true,
  },
  {
    name: 'program-bankrun',
    about: 'the program on an old runtime',
    folder: 'program',
    // The program refuses the same accounts on every runtime.
    without: ['generated/generated'],
    env: { VM: 'bankrun' },
    long: true,
  },
  {
    name: 'misbehaviour-postgres',
    about: 'what the ledger keeps of failing agents and late results, on PostgreSQL',
    folder: 'relay/misbehaviour',
    files: ['health', 'midflight'],
    env: POSTGRES,
    long: true,
  },
  // With an empty target/, compiling takes minutes.
  { name: 'rust', about: "the program's own unit tests", long: true },
];

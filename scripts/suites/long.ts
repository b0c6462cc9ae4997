/** The suites that only `npm run test:all` runs by default. Each takes minutes. */
import type { Suite } from './suite.ts';

/**
 * Runs on PostgreSQL instead of SQLite. A file runs on both databases only if its outcome can depend on the database:
 * locks, leases, several relays, recovery, or its own SQL. `files` lists them.
 */
const POSTGRES = { DATABASE: 'postgres' };

/** Files of relay/operation that wait for faults and timeouts. */
const FAULTS = [
  'backup',
  'cluster',
  'leases',
  'main',
  'reconcile',
  'restoring',
  'sharedAuthority',
  'storage',
  'threads',
];

/** Files of indexer that repeatedly lose a process, a node or its history. */
export const GAPS = ['gaps', 'process', 'pruned', 'rebuild', 'story'];

/** Files of relay/calls that make many calls each. x402/shared has calls that share transactions, too. */
export const LIMITS = ['moneyQueue', 'protection', 'shared', 'stuckRefunds'];

/** Files of relay/x402 in which payments are attacked, share transactions, lose fees, or lose their ledger. */
export const ATTACKS = ['attacks', 'debts', 'hour', 'lostLedger', 'shared'];

/** Files of cli that wait for faults and windows, fill an archive's tree, or install packages. */
export const COMMANDS = ['aftermath', 'faults', 'rebuilding'];

/**
 * Files of dashboard that need their own network: an upheld dispute pauses an agent that the other files call. With
 * the next list, it splits the dashboard into suites of similar duration.
 */
export const OPERATED = ['admin', 'signIn', 'statements', 'verify'];

/** Files of dashboard that take half of the time of all others. */
export const CREATORS = ['creator', 'keyboard', 'results', 'webhooks'];

/** Files of dashboard whose networks or connections fail, or whose clocks move by days. */
export const DISTURBED = ['aftermath', 'approval', 'changes', 'faults', 'slowLine'];

/** Files of dashboard that read many views. */
export const VIEWS = ['accessible', 'docs', 'weekly'];

/** The longest file of validator. The list splits the folder into two suites of similar duration. */
const DEPLOYED = ['deploy'];

/** They spend most of their time waiting for slots, so they start first. */
export const ON_AGAVE: Suite[] = [
  {
    name: 'validator-deploy',
    about: "deploying to Agave's own validator",
    folder: 'validator',
    files: DEPLOYED,
  },
  {
    name: 'validator',
    about:
      "the marketplace on Agave's own validator: a newcomer, your own node, a slow cluster, and its pruned history",
    folder: 'validator',
    without: DEPLOYED,
  },
];

/** All others. Longest first. */
export const LONG: Suite[] = [
  {
    name: 'dashboard-creators',
    about: 'the page for creators, results and webhooks on it, and the keyboard alone',
    folder: 'dashboard',
    files: CREATORS,
  },
  {
    name: 'dashboard-operated',
    about: 'the page for the admin, disputes, sign-in, statements and receipts, on a separate network',
    folder: 'dashboard',
    files: OPERATED,
  },
  {
    name: 'operation-faults',
    about: 'the relay in its own process, its commands, leases; a failing disk or storage',
    folder: 'relay/operation',
    files: FAULTS,
  },
  {
    name: 'dashboard-views',
    about: 'accessibility of every view (axe), the guide, and the weekly routine of callers and creators',
    folder: 'dashboard',
    files: VIEWS,
  },
  {
    name: 'clients-packages',
    about:
      'the client packages: built, installed into empty folders, and run on a real marketplace; Deno, Bun, workerd',
    folder: 'clients',
    files: ['python', 'typescriptPackage'],
  },
  {
    name: 'dashboard-faults',
    about:
      'the page on a slow connection, without an answering marketplace or node, after late approvals and days later',
    folder: 'dashboard',
    files: DISTURBED,
  },
  {
    name: 'kills-postgres',
    about: 'two relays on one PostgreSQL: each of the three is killed',
    folder: 'relay/kills',
    // A relay that starts again reads the same rows from both databases.
    without: ['recovery'],
    env: POSTGRES,
  },
  { name: 'kills', about: 'the relay killed at every step', folder: 'relay/kills' },
  {
    name: 'local-elsewhere',
    about: 'npm start on an external node, on PostgreSQL and on a full disk, and its parts started separately',
    folder: 'local',
    files: ['apart', 'external', 'fullDisk', 'postgres'],
  },
  {
    name: 'operation-postgres',
    about: 'operation on PostgreSQL: restoring, journal and lists',
    folder: 'relay/operation',
    files: [
      'executionLists',
      'journal',
      'lending',
      'listedAgents',
      'lostCalls',
      'orphans',
      'rents',
      'restoring',
      'results',
      'rowsTouched',
      'sweepTransactions',
    ],
    env: POSTGRES,
  },
  {
    name: 'command-lines',
    about: 'after a call, a busy service and a faulty node, proofs from the chain alone, agents from `creator new`',
    folder: 'cli',
    files: COMMANDS,
  },
  {
    name: 'operation',
    about: 'logs, limits, fees and metrics; lists and rows touched on large tables',
    folder: 'relay/operation',
    without: FAULTS,
  },
  { name: 'rpc', about: 'the relay behind a node with faults', folder: 'relay/rpc' },
  {
    name: 'indexer-postgres',
    about: 'the indexer on PostgreSQL',
    folder: 'indexer',
    files: ['apply', 'rebuild', 'verify', 'versions'],
    env: POSTGRES,
  },
  {
    name: 'indexer-faults',
    about: 'the indexer with lost logs, killed processes and missing history, and rebuilding the index',
    folder: 'indexer',
    files: GAPS,
  },
  {
    name: 'database',
    about: 'PostgreSQL, and the behaviour that both databases share',
    folder: 'database',
  },
  {
    name: 'calls-postgres',
    about: 'reservations and repeated calls at relays that share a PostgreSQL',
    folder: 'relay/calls',
    files: ['idempotency', 'moneyQueue', 'oneCharge'],
    env: POSTGRES,
  },
  {
    name: 'contract',
    about: 'OpenAPI document and IDL with other tools: schemathesis, client generators, Codama',
    folder: 'contract',
  },
  {
    name: 'x402-clients',
    about: 'independent x402 clients in TypeScript and Python, over HTTP and MCP',
    folder: 'x402',
  },
  {
    name: 'calls-limits',
    about: 'reservations, shared transactions, and the protection of the fee payer',
    folder: 'relay/calls',
    files: LIMITS,
  },
  {
    name: 'x402-attacks',
    about: "x402 payments under attack, in shared transactions, and with lost ledgers; a buyer's hour",
    folder: 'relay/x402',
    files: ATTACKS,
  },
  {
    name: 'sweeper',
    about: 'returning deposits: archiving and closing ended executions',
    folder: 'relay/sweeper',
  },
  {
    name: 'mcp-hosts',
    about: 'docs/agents.md with independent MCP hosts: the packed package, Python',
    folder: 'mcp',
    files: ['hosts'],
  },
  {
    name: 'sdk-package',
    about: 'the SDK package: built, and installed into empty folders',
    folder: 'sdk',
    files: ['package'],
  },
  {
    name: 'api-postgres',
    about: 'the REST API on PostgreSQL',
    folder: 'relay/api',
    files: [
      'agents',
      'creatorPages',
      'databaseAway',
      'disputes',
      'events',
      'events/sources',
      'executionPages',
      'executions',
      'keys',
      'metadata',
      'sharedSessions',
      'webhooks',
      'webhooks/endpoints',
      'webhooks/turns',
    ],
    env: POSTGRES,
  },
  {
    name: 'fuzz',
    about: 'the program with more random sequences and signatures than in the suite program',
    folder: 'program',
    files: ['fuzz/fuzz', 'signature'],
    // The suite `program` runs the seeds before these.
    env: { VM: 'litesvm', SEED: '101', RUNS: '100', ROUNDS: '1000' },
  },
  { name: 'misbehaviour', about: 'misbehaving creators', folder: 'relay/misbehaviour' },
  {
    name: 'chaos',
    about: 'random kills, faults and bad creators, from a seed: two relays and a standby indexer on one PostgreSQL',
    folder: 'relay/chaos',
    env: POSTGRES,
  },
  {
    name: 'program-bankrun',
    about: 'the program on an old Solana runtime: accounts made and closed, lamports, calls, stack',
    folder: 'program',
    // A check of the program gives the same result on every runtime. These depend on what the runtime itself does. No
    // cluster runs this binary, so one file for each of its parts is enough.
    files: ['createArchive', 'exploits/sponsors', 'pdaCaller', 'settleExecution', 'stackArguments'],
    env: { VM: 'bankrun' },
  },
  // With an empty target/, compiling takes minutes.
  { name: 'rust', about: "the program's own unit tests" },
];

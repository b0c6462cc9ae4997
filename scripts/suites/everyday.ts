/** The suites of `npm test`. Together they use each feature once. */
import { COMMANDS, DISTURBED, FAULTS, GAPS, LARGE, LIMITS, VIEWS } from './long.ts';
import type { Suite } from './suite.ts';

const COVERAGE = 'tests/program/coverage.ts';

/**
 * Files of dashboard that need their own network: an upheld dispute pauses an agent that the other files call. With
 * the next list, it splits the dashboard into suites of similar duration.
 */
const OPERATED = ['admin', 'signIn', 'statements', 'verify'];

/** Files of dashboard that take half of the time of all others. */
const CREATORS = ['creator', 'keyboard', 'results', 'webhooks'];

/** Longest first, so that all lanes end at about the same time. */
export const EVERYDAY: Suite[] = [
  {
    name: 'dashboard',
    about: 'the page for callers, in Chromium on a running network',
    folder: 'dashboard',
    without: [...OPERATED, ...CREATORS, ...DISTURBED, ...VIEWS],
  },
  {
    name: 'dashboard-creators',
    about: 'the page for creators, results and webhooks on it, and the keyboard alone',
    folder: 'dashboard',
    files: CREATORS,
  },
  { name: 'cli', about: 'the command line', folder: 'cli', without: COMMANDS },
  {
    name: 'dashboard-operated',
    about: 'the page for the admin, disputes, sign-in, statements and receipts, on a separate network',
    folder: 'dashboard',
    files: OPERATED,
  },
  {
    name: 'operation',
    about: 'logs, limits, fees and metrics',
    folder: 'relay/operation',
    without: [...FAULTS, ...LARGE],
  },
  { name: 'calls', about: 'paid calls, on a real node', folder: 'relay/calls', without: LIMITS },
  { name: 'api', about: 'the REST API on real tables', folder: 'relay/api' },
  {
    name: 'program',
    about: 'the program on the current Solana runtime',
    folder: 'program',
    env: { VM: 'litesvm' },
    hooks: COVERAGE,
  },
  { name: 'indexer', about: 'the indexer, from events to tables, on a real node', folder: 'indexer', without: GAPS },
  {
    name: 'local',
    about: 'npm start, and the command line on its network',
    folder: 'local',
    without: ['apart', 'external', 'fullDisk', 'postgres'],
  },
  { name: 'docs', about: 'the documents: all commands and links in them', folder: 'docs' },
  {
    name: 'x402',
    about: 'calls that x402 clients pay for',
    folder: 'relay/x402',
    without: ['attacks', 'hour'],
  },
  { name: 'journey', about: 'the whole product, as a newcomer uses it', folder: 'journey' },
  {
    name: 'clients',
    about: 'the TypeScript client: one table of behaviours and webhooks, on a real marketplace',
    folder: 'clients',
    files: ['quotes', 'typescript', 'webhooks'],
  },
  { name: 'creators', about: 'the demo creators', folder: 'creators' },
  {
    name: 'mcp',
    about: 'AI agents as buyers: the MCP server, called by the official client',
    folder: 'mcp',
    files: ['mcp', 'outcomes'],
  },
  { name: 'sdk', about: 'the SDK', folder: 'sdk', without: ['package'] },
  { name: 'integrator', about: 'the program, called only through Anchor and its IDL', folder: 'integrator' },
];

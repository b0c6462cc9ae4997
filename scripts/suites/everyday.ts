/** The suites of `npm test`. Together they use each feature once; of the page, what callers use. */
import { ATTACKS, COMMANDS, CREATORS, DISTURBED, GAPS, LIMITS, OPERATED, VIEWS } from './long.ts';
import type { Suite } from './suite.ts';

const COVERAGE = 'tests/program/coverage.ts';

/** Longest first, so that all lanes end at about the same time. */
export const EVERYDAY: Suite[] = [
  {
    name: 'dashboard',
    about: 'the page for callers, in Chromium on a running network',
    folder: 'dashboard',
    without: [...OPERATED, ...CREATORS, ...DISTURBED, ...VIEWS],
  },
  {
    name: 'journey',
    about: 'the whole product on npm start, as a newcomer uses it: calls, command line, and the commands of all pages',
    folder: 'journey',
  },
  { name: 'cli', about: 'the command line', folder: 'cli', without: COMMANDS },
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
    about: 'the embedded node, and the parts of npm start',
    folder: 'local',
    without: ['apart', 'external', 'fullDisk', 'postgres'],
  },
  { name: 'docs', about: 'the documents and the files of deploy/', folder: 'docs' },
  {
    name: 'x402',
    about: 'calls that x402 clients pay for',
    folder: 'relay/x402',
    without: ATTACKS,
  },
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

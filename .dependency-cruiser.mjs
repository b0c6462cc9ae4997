/**
 * The arrows of the house: who may import whom, `import type` included. `npm run check` runs them. ARCHITECTURE.md draws
 * them; the two change together.
 */

/** From the top down. A room imports itself and what stands below it, never a room of its own line. */
const LINES = [
  { 'app/local': '^app/local/(?!creators/)' },
  { 'app/local/creators': '^app/local/creators/', 'app/cli': '^app/cli/' },
  { 'app/relay/start': '^app/relay/((main|check|start)\\.ts$|assembly/)' },
  {
    'app/relay/http': '^app/relay/http/',
    'app/relay/config': '^app/relay/((config|log)\\.ts$|config/)',
    'app/relay/reconcile': '^app/relay/reconcile/',
  },
  { 'app/relay/disputes': '^app/relay/disputes/', 'app/relay/events': '^app/relay/events/' },
  {
    'app/relay/operation': '^app/relay/operation/',
    'app/relay/calls': '^app/relay/calls/',
    'app/relay/access': '^app/relay/access/',
  },
  { 'app/relay/execution': '^app/relay/execution/', 'app/relay/sweeper': '^app/relay/sweeper/' },
  { 'app/relay/chain': '^app/relay/chain/', 'app/relay/agents': '^app/relay/agents/' },
  { 'app/relay/outbound': '^app/relay/outbound/', 'app/relay/ledger': '^app/relay/ledger/' },
  { 'app/relay (ground)': '^app/relay/(digest|errors|explorer|json|lanes|longBytes|parse|waiting|workers|shareReading)\\.ts$' },
  { indexer: '^indexer/[^/]+\\.ts$' },
  { 'indexer/repair': '^indexer/repair/' },
  { 'indexer/chain': '^indexer/chain/', 'indexer/verify': '^indexer/verify/' },
  { 'indexer/apply': '^indexer/apply/' },
  { 'indexer/queries': '^indexer/queries/' },
  { 'app/solana': '^app/solana/', 'app/database': '^app/database/', 'app/process': '^app/process/' },
  { migrations: '^migrations/' },
  { 'app/mcp': '^app/mcp/' },
  { 'app/sdk/wallet': '^app/sdk/wallet/' },
  { 'app/sdk/client': '^app/sdk/client/', 'app/sdk/creator': '^app/sdk/creator/' },
  { 'app/sdk/receipt': '^app/sdk/receipt/' },
  { 'app/sdk/program': '^app/sdk/program/' },
  { 'app/sdk/wire': '^app/sdk/wire/' },
];

const forbidden = [
  {
    name: 'no-circle',
    comment: 'A circle means that one type lies in the wrong room.',
    severity: 'error',
    from: {},
    to: { circular: true },
  },
  {
    name: 'clients-import-only-the-sdk',
    comment: 'What the command line needs of the marketplace, everybody else needs too: it belongs into app/sdk.',
    severity: 'error',
    from: { path: '^(app/cli|app/client|app/local/creators|app/dashboard|app/mcp)/' },
    to: { path: '^(app|indexer|migrations|scripts|tests|bench)/', pathNot: ['^app/sdk/', '^$1/'] },
  },
  {
    name: 'sdk-is-a-leaf',
    severity: 'error',
    from: { path: '^app/sdk/' },
    to: { path: '^(app|indexer|migrations|scripts|tests|bench|examples)/', pathNot: '^app/sdk/' },
  },
  {
    name: 'relay-reads-the-index',
    comment: 'The relay reads the tables of the indexer by its queries, and never runs what fills them.',
    severity: 'error',
    from: { path: '^app/relay/' },
    to: { path: '^indexer/', pathNot: '^indexer/queries/' },
  },
  {
    name: 'only-the-chain-room-sends',
    comment: 'Whatever the relay signs and sends goes through app/relay/chain, which alone is given the keypair.',
    severity: 'error',
    from: { path: '^app/relay/', pathNot: '^app/relay/chain/' },
    to: { path: '^app/solana/calls\\.ts$' },
  },
  {
    name: 'mcp-is-served-by-http',
    comment: 'The relay serves the MCP server over /mcp. Its tools ask the REST API, never the rooms of the relay.',
    severity: 'error',
    from: { path: '^app/', pathNot: '^app/(mcp/|relay/http/mcp\\.ts$)' },
    to: { path: '^app/mcp/' },
  },
  {
    name: 'mcp-asks-by-the-client',
    comment:
      'Only the wallet that opens disputes needs more of the SDK than its client, its schemas and receipts. Its errors are plain classes.',
    severity: 'error',
    from: { path: '^app/mcp/', pathNot: '^app/mcp/wallet\\.ts$' },
    to: { path: '^app/sdk/', pathNot: ['^app/sdk/(client|wire|receipt)/', '^app/sdk/wallet/refusal\\.ts$'] },
  },
  {
    name: 'product-without-tests',
    severity: 'error',
    from: { path: '^(app|indexer|migrations)/' },
    to: { path: '^(tests|bench|scripts|examples)/' },
  },
  ...LINES.flatMap((line, index) =>
    Object.entries(line).map(([room, path]) => {
      const above = LINES.slice(0, index).flatMap((other) => Object.values(other));
      const beside = Object.entries(line).flatMap(([name, other]) => (name === room ? [] : [other]));
      return {
        name: `${room}-imports-downwards`,
        severity: 'error',
        from: { path },
        to: { path: [...above, ...beside].length > 0 ? [...above, ...beside] : '^$' },
      };
    }),
  ),
];

export default {
  forbidden,
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: { path: ['node_modules', '^tests/contract/clients/', '^target/', '^app/(sdk|client|mcp)/dist/', '^app/dashboard/dist'] },
  },
};

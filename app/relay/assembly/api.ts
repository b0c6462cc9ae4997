/** Builds the dependencies of the API. */
import { join } from 'node:path';
import { createSessions } from '../access/sessions.ts';
import { createLostCalls } from '../calls/lostCalls.ts';
import type { createChainAccounts } from '../chain/accounts.ts';
import { explorerQuery } from '../explorer.ts';
import type { RelayDeps } from '../http/deps.ts';
import { createKeyReader } from '../ledger/apiKeys.ts';
import { createPost } from '../outbound/testPost.ts';
import { type EngineParts, type RelayOptions, X402_OFF } from './parts.ts';

/** Output of `npm run build:dashboard`. */
const DASHBOARD = join(import.meta.dirname, '..', '..', 'dashboard', 'dist');

type MoreDeps = Pick<
  RelayDeps,
  'baseUrl' | 'x402' | 'genesisHash' | 'engine' | 'isBusy' | 'keyUse' | 'readKeyDirectory' | 'streams'
> & {
  accounts: ReturnType<typeof createChainAccounts>;
  money: Pick<RelayDeps['operator'], 'runway' | 'swept'>;
};

/** Builds the dependencies of the API. */
export function assembleDeps(
  { config, log }: RelayOptions,
  parts: EngineParts,
  { money, ...more }: MoreDeps,
): RelayDeps {
  const { files, chain, metrics, payers } = parts;
  return {
    ...more,
    config,
    dashboardFolder: DASHBOARD,
    explorerQuery: explorerQuery(more.genesisHash, config.publicRpcUrl),
    ledger: files.ledger.db,
    views: files.views.db,
    readText: parts.readText,
    documents: parts.documents,
    findKey: createKeyReader(files.views),
    payers,
    lostCalls: createLostCalls({
      ledger: files.ledger.db,
      views: files.views.db,
      clock: more.accounts.clock,
      now: () => Date.now(),
      log,
    }),
    undocumented: parts.undocumented,
    sessions: createSessions({ ledger: files.ledger.db, genesisHash: more.genesisHash, payers, now: () => Date.now() }),
    noX402: config.x402 && !chain.finality.isFast ? X402_OFF : 'This service does not accept x402 payments',
    gate: parts.gate,
    metrics,
    operator: {
      ...money,
      authority: chain.authority.toBase58(),
      readBalances: more.accounts.readBalances,
      readHeld: (whose) => more.accounts.readHeld(whose),
      nodes: chain.nodes,
      lending: parts.lending,
      clock: () => chain.clock(),
      x402: () =>
        config.x402 && {
          feePayer: config.x402.feePayer.publicKey.toBase58(),
          lamports: parts.x402Runway?.status().lamports ?? null,
          minLamports: config.x402.minLamports,
        },
      lamportsPerCall: metrics.lamportsPerCall,
      reconciledMs: () => parts.gate.reconciledMs(),
    },
    agentHealth: parts.agentHealth,
    testTools: { sign: parts.creators.sign, post: createPost(parts.creators) },
    now: () => Date.now(),
    log,
  };
}

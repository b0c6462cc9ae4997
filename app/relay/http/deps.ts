/**
 * The dependencies of the relay's HTTP server, built once in assembly/api.ts: the sum of those of all modules, and its own.
 */
import type { Keypair } from '@solana/web3.js';
import type { KeyDirectory } from '../../sdk/wire/wire.ts';
import type { AskerDeps } from '../access/asker.ts';
import type { WalletDeps } from '../access/auth.ts';
import type { CookieDeps } from '../access/cookie.ts';
import type { KeysDeps } from '../access/keys.ts';
import type { OAuthDeps } from '../access/oauth/codes.ts';
import type { OwnKeyDeps } from '../access/ownKey.ts';
import type { PublicLimitDeps } from '../access/publicLimit.ts';
import type { Sessions, SessionsDeps } from '../access/sessions.ts';
import type { ListDeps } from '../agents/catalog.ts';
import type { MetadataDeps } from '../agents/metadata.ts';
import type { TrialDeps } from '../agents/trial.ts';
import type { ExecuteDeps } from '../calls/execute.ts';
import type { RecordsDeps } from '../calls/records.ts';
import type { X402Deps } from '../calls/x402/repeated.ts';
import type { ChainAccounts } from '../chain/accounts.ts';
import type { ResolvingDeps } from '../disputes/resolving.ts';
import type { EndpointsDeps } from '../events/endpoints.ts';
import type { Streams } from '../events/streams.ts';
import type { ReadyDeps } from '../operation/health.ts';
import type { Metrics } from '../operation/metrics.ts';
import type { Operator } from '../operation/state.ts';

/** The HTTP layer's own dependencies. */
interface HttpDeps {
  config: {
    /** Bearer token for /metrics; null: only this computer may read it. */
    metricsToken: string | null;
    /** RPC URL shown to callers. */
    publicRpcUrl: string;
    /** URL where users contact the operator; null if there is none. */
    operatorContact: string | null;
    /** Wallets for this computer's page; null except on a local network. */
    developmentWallets: { name: string; keypair: Keypair }[] | null;
    /** Source addresses of calls to creators' servers; empty if they are not fixed. */
    egressIps: string[];
  };
  /** Folder of the built page; null for a service without one. */
  dashboardFolder: string | null;
  sessions: Sessions;
  accounts: Pick<ChainAccounts, 'readChanges' | 'readTime' | 'clock'>;
  metrics: Pick<Metrics, 'render' | 'answered' | 'faulted' | 'refused'>;
  /** Opens event streams. */
  streams: Pick<Streams, 'ofWallet' | 'ofExecution'>;
  /** The admin's view of this process. */
  operator: Operator;
  /** Public keys of all relays on the ledger that sign calls to creators. */
  readKeyDirectory(): Promise<KeyDirectory>;
}

type AccessDeps = WalletDeps &
  OwnKeyDeps &
  KeysDeps &
  OAuthDeps &
  PublicLimitDeps &
  SessionsDeps &
  CookieDeps &
  AskerDeps;
type AgentsDeps = ListDeps & MetadataDeps & TrialDeps;
type EventsDeps = EndpointsDeps;
type CallsDeps = ExecuteDeps & X402Deps & RecordsDeps & ResolvingDeps;

export type RelayDeps = HttpDeps & AccessDeps & AgentsDeps & CallsDeps & EventsDeps & ReadyDeps;

/** What the relay's HTTP server needs, built once in start.ts: the sum of what the rooms declare, and its own part. */
import type { Keypair } from '@solana/web3.js';
import type { KeyDirectory } from '../sdk/wire/wire.ts';
import type { ReaderDeps } from './access/auth.ts';
import type { CookieDeps } from './access/cookie.ts';
import type { KeysDeps } from './access/keys.ts';
import type { PublicLimitDeps } from './access/publicLimit.ts';
import type { Sessions, SessionsDeps } from './access/sessions.ts';
import type { ListDeps } from './agents/catalog.ts';
import type { MetadataDeps } from './agents/metadata.ts';
import type { ProberDeps } from './agents/prober.ts';
import type { TrialDeps } from './agents/trial.ts';
import type { ExecuteDeps } from './calls/execute.ts';
import type { RecordsDeps } from './calls/records.ts';
import type { ResolvingDeps } from './disputes/resolving.ts';
import type { ReadyDeps } from './operation/health.ts';
import type { Metrics } from './operation/metrics.ts';
import type { Operator } from './operation/state.ts';

/** What http/ needs beside what it passes on. */
interface HttpDeps {
  config: {
    /** Who sends it as Bearer token may read /metrics; null: only this computer may. */
    metricsToken: string | null;
    /** RPC address that callers are shown. */
    publicRpcUrl: string;
    /** Wallets that this computer's page may have; null on any but a local network. */
    developmentWallets: { name: string; keypair: Keypair }[] | null;
    /** Addresses that creators' servers are called from; empty where that is not fixed. */
    egressIps: string[];
  };
  /** Of the built page; null for a service without one. */
  dashboardFolder: string | null;
  sessions: Sessions;
  metrics: Pick<Metrics, 'render'>;
  /** What the admin is shown of this process. */
  operator: Operator;
  /** Public keys that calls to creators are signed with, by any relay on the ledger. */
  readKeyDirectory(): Promise<KeyDirectory>;
}

type AccessDeps = ReaderDeps & KeysDeps & PublicLimitDeps & SessionsDeps & CookieDeps;
type AgentsDeps = ListDeps & MetadataDeps & ProberDeps & TrialDeps;
type CallsDeps = ExecuteDeps & RecordsDeps & ResolvingDeps;

export type RelayDeps = HttpDeps & AccessDeps & AgentsDeps & CallsDeps & ReadyDeps;

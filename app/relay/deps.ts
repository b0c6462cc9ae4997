/**
 * What the relay's edge and read side need, built once in main.ts and passed to everything. The interfaces here are the
 * seams to the chain and to the engine that moves money.
 */
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Config, ExecutionRecord, KeyGrant } from '../sdk/program/program.ts';
import type { KeyDirectory } from '../sdk/wire/wire.ts';
import type { KeyRow, KeyUse } from './access/auth.ts';
import type { Sessions } from './access/sessions.ts';
import type { AgentHealthReader } from './agents/agentHealth.ts';
import type { Agent } from './agents/catalog.ts';
import type { Documents } from './agents/documents.ts';
import type { RelayConfig } from './config.ts';
import type { LedgerDatabase, LedgerTables } from './ledger/tables.ts';
import type { Gate } from './operation/gate.ts';
import type { Metrics } from './operation/metrics.ts';
import type { CreatorAnswer, CreatorCall } from './outbound/dispatch.ts';

/** Who is calling: the wallet that pays, and the key that was used. */
export interface Principal {
  wallet: string;
  /** 32 hex digits: names the grant on-chain. */
  keyId: string;
  /** 64 hex digits. */
  keyHash: string;
}

export interface ExecuteInput {
  task: string;
  parameters: Record<string, unknown>;
  async: boolean;
  timeoutSeconds: number;
  /** Most that the caller will pay, base units. */
  maxCost: bigint;
  /** Where the call carries an Idempotency-Key: the nonce of its open, and what it is known by. */
  repeatable?: { nonce: Buffer; fingerprint: string };
}

/** An execution that its wallet opened itself: the record, and what the wallet wants done for it. */
export interface OpenedInput {
  record: ExecutionRecord;
  task: string;
  parameters: Record<string, unknown>;
  async: boolean;
  /** Whole seconds until the record's deadline. */
  timeoutSeconds: number;
}

/** `completed` is settled; `pending` is an async call whose open is confirmed; `running` is not known yet. */
export type ExecuteOutcome =
  | {
      kind: 'completed';
      executionId: string;
      result: string;
      resultHash: string;
      /** Base units. */
      price: bigint;
      tokensUsed: number | null;
      executionTimeMs: number;
      settleSignature: string;
      resultToken: string;
    }
  | { kind: 'pending'; executionId: string }
  | { kind: 'running'; executionId: string };

/** The engine of execution/: throws ApiError for everything that is not an outcome. */
export interface Engine {
  execute(principal: Principal, agent: Agent, input: ExecuteInput): Promise<ExecuteOutcome>;
  /** Runs an execution whose escrow is funded. */
  start(agent: Agent, input: OpenedInput): Promise<ExecuteOutcome>;
  /** What a call is answered whose execution has ended. */
  outcomeOf(executionId: string): Promise<ExecuteOutcome>;
  /** Executions that this process is working on now. */
  inFlight(): number;
}

/** The chain as the edge sees it; ids are base58 and hex. Methods reject where the node does not answer. */
export interface ChainAccounts {
  /** The account, and the chain's clock in unix seconds at that moment. */
  readGrant(wallet: string, keyId: string): Promise<{ grant: KeyGrant | null; now: bigint }>;
  /** The record, and the chain's clock at that moment. */
  readExecution(executionId: Uint8Array): Promise<{ record: ExecutionRecord | null; now: bigint }>;
  readConfig(): Promise<Config>;
  /** Revokes by the relay authority and waits for the confirmation; returns the signature. */
  revokeGrant(wallet: string, keyId: string): Promise<string>;
  isReachable(): Promise<boolean>;
}

export interface RelayDeps {
  config: Pick<
    RelayConfig,
    | 'environment'
    | 'metricsToken'
    | 'publicRpcUrl'
    | 'allowPrivateEndpoints'
    | 'egressIps'
    | 'trustProxy'
    | 'publicRate'
  >;
  /** Public address without a trailing slash; known once the server listens. */
  baseUrl(): string;
  /** `''` or `?cluster=...`: what follows a path of Solana Explorer. */
  explorerQuery: string;
  /** ledger.db for writing keys and metadata. */
  ledger: Kysely<LedgerTables>;
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  documents: Documents;
  /** A key's row by its SHA-256 in hex, as it is now. */
  findKey(keyHash: string): KeyRow | undefined;
  keyUse: KeyUse;
  /** Wallets that have proved themselves by a signature. */
  sessions: Sessions;
  accounts: ChainAccounts;
  engine: Engine;
  gate: Pick<Gate, 'obstacles'>;
  metrics: Pick<Metrics, 'render'>;
  /** Public keys that calls to creators are signed with. */
  keyDirectory: KeyDirectory;
  agentHealth: Pick<AgentHealthReader, 'healthOf'>;
  /** One call to a creator's server, not repeated; `deadlineMs` is on performance.now()'s clock. */
  callCreator(
    call: Pick<CreatorCall, 'endpoint' | 'request' | 'purpose' | 'signingKey' | 'deadlineMs'>,
  ): Promise<CreatorAnswer>;
  /** Unix milliseconds. */
  now(): number;
  log: Logger;
}

/** The dependencies of an execution's steps, and the outcome of a step. */
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import type { KeyGrant } from '../../sdk/program/program.ts';
import type { Authorities } from '../chain/cluster.ts';
import type { Outcome } from '../chain/confirmations.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { Observe } from '../chain/stages.ts';
import type { ApiError } from '../errors.ts';
import type { Lending } from '../ledger/funding.ts';
import type { IndexedEnd } from '../ledger/indexed.ts';
import type { Journal } from '../ledger/journal.ts';
import type { Leases } from '../ledger/leases.ts';
import type { JournalRow, ResultRow } from '../ledger/tables.ts';
import type { CreatorAnswer, CreatorPool } from '../outbound/dispatch.ts';
import type { ReadText } from '../outbound/resultObjects.ts';
import type { OutputStream } from './contract.ts';
import type { Snapshot } from './snapshot.ts';

/** A claimed call with the money of its key and its wallet, as the accounts showed it before the claim. */
export interface ClaimedCall {
  wallet: string;
  keyId: string;
  /** Base units. */
  price: bigint;
  grant: KeyGrant;
  /** Unix seconds. */
  now: bigint;
  /** Lamports that the wallet pays for this call; 0 if the operator does. */
  gas: bigint;
  /** Lamports left in the gas balance after the call. */
  gasBalance: bigint;
}

/** The engine's dependencies on lower modules. */
export interface EngineDeps {
  chain: Omit<RelayChain, 'close'>;
  journal: Journal;
  /** Other relays that work on this ledger. */
  leases: Pick<Leases, 'alive'>;
  creators: CreatorPool;
  usdcMint: PublicKey;
  /** The operator's money. */
  lending: Lending;
  /** True if no other deployment signs with our authority. */
  isAlone(): boolean;
  /** The authorities that may settle and refund, by Config. */
  authorities: Authorities;
  /** The end of an execution whose record the chain no longer has. */
  closedEnd(executionId: string): Promise<IndexedEnd | null>;
  /** True if the index knows that this deposit was refunded and opened no execution. */
  isReturned(deposit: string): Promise<boolean>;
  /** Endpoint of the agent with this metadata hash. */
  endpointOf(metadataHash: string): Promise<string | null>;
  /** True if an execution of the wallet was settled, so that it is no stranger. */
  hasPaid(wallet: string): Promise<boolean>;
  /** The bytes of a result, in the ledger or the object storage. */
  readText: ReadText;
  /** Throws if new executions of a listing are refused. */
  requireExposure(listing: string): void;
  /** Called when the chain refuses an open of a listing, with the program's error name if it has one. */
  openFailed(error: string | null, listing: string): void;
  /** Called with each claimed call, to warn its wallet in time. */
  claimed?(call: ClaimedCall): void;
  log: Logger;
  observe?: Observe;
}

/** State of an execution while this process works on it. All of it can be read again after a crash. */
export interface Progress {
  /** This process stored the open a moment ago, so it cannot have landed yet. */
  isFresh: boolean;
  snapshot: Snapshot | null;
  /** The open that was sent before its payment was final, and its outcome. */
  opening: { signature: string; outcome: Promise<Outcome> } | null;
  /** When the creator was first called, on performance.now()'s clock. */
  dispatchedAtMs: number | null;
  answer: CreatorAnswer | null;
  /** When `answer` came, on performance.now()'s clock. */
  answeredAtMs: number | null;
  result: ResultRow | null;
  /** The row in its final state. */
  ended: JournalRow | null;
  refused: ApiError | null;
  /** Called once the open needs no reservation any longer. Calls that wait for the escrow may then go on. */
  opened: () => void;
  /** Null if nobody wants the deltas. */
  output: OutputStream | null;
}

/**
 * The outcome of a step. `next`: continue at once. `wait`: the chain does not show the outcome yet. `rest`: only time
 * or other people can change anything. `ended`: final.
 */
export type Step = 'next' | 'wait' | 'rest' | 'ended';

interface NewProgress {
  isFresh: boolean;
  opened?: (() => void) | undefined;
  output?: OutputStream | undefined;
}

/** The state of an execution before anything is known of it. */
export function newProgress({ isFresh, opened, output }: NewProgress): Progress {
  return {
    isFresh,
    snapshot: null,
    opening: null,
    dispatchedAtMs: null,
    answer: null,
    answeredAtMs: null,
    result: null,
    ended: null,
    refused: null,
    opened: opened ?? (() => undefined),
    output: output ?? null,
  };
}

/** The outcome of this open, if this process has sent it already. Given once, because a stopped one is sent again. */
export function takeOpening(progress: Progress, { signature }: { signature: string }): Promise<Outcome> | null {
  const { opening } = progress;
  progress.opening = null;
  return opening?.signature === signature ? opening.outcome : null;
}

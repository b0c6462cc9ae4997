/** What a step of an execution works with, and how it leaves its row. */
import type { PublicKey } from '@solana/web3.js';
import type { Logger } from 'pino';
import type { Authorities } from '../chain/cluster.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { Observe } from '../chain/stages.ts';
import type { ApiError } from '../errors.ts';
import type { Budgets } from '../ledger/funding.ts';
import type { Journal } from '../ledger/journal.ts';
import type { Leases } from '../ledger/leases.ts';
import type { JournalRow, ResultRow } from '../ledger/tables.ts';
import type { CreatorAnswer, CreatorPool } from '../outbound/dispatch.ts';
import type { ReadText } from '../outbound/resultObjects.ts';
import type { KeepLate } from './late.ts';
import type { Snapshot } from './snapshot.ts';

/** What the engine needs of the rooms below. */
export interface EngineDeps {
  chain: Omit<RelayChain, 'close'>;
  journal: Journal;
  /** Which other relays work on this ledger. */
  leases: Pick<Leases, 'alive'>;
  creators: CreatorPool;
  usdcMint: PublicKey;
  /** What the operator gives at most. */
  budgets: Budgets;
  /** Who gets back the rent that the operator lends. */
  rentReturn: PublicKey;
  /** Whether no other deployment signs with our authority. */
  isAlone(): boolean;
  /** Who may settle and refund, as Config says it. */
  authorities: Authorities;
  /** Where the agent of a stored metadata hash is called. */
  endpointOf(metadataHash: string): Promise<string | null>;
  /** Keeps a result that came too late. */
  keepLate: KeepLate;
  /** The bytes of a result, wherever they are. */
  readText: ReadText;
  /** Bytes of a result for each cent of its price. */
  resultBytesPerCent: number;
  /** Throws where new executions of a listing are turned away. */
  requireServing(listing: string): Promise<void>;
  /** Is told why the chain has refused an open of a listing, by the program's own name where it has one. */
  openFailed(error: string | null, listing: string): void;
  log: Logger;
  observe?: Observe;
}

/** What is known of an execution while this process works on it; all of it can be read again after a crash. */
export interface Live {
  /** Its open was stored by this process a moment ago: nothing can have become of it yet. */
  isFresh: boolean;
  snapshot: Snapshot | null;
  /** When the creator was first called, on performance.now()'s clock. */
  dispatchedAtMs: number | null;
  answer: CreatorAnswer | null;
  result: ResultRow | null;
  /** The row as it has ended. */
  ended: JournalRow | null;
  refused: ApiError | null;
  /** Called once its open needs no reservation any longer, and those who wait for the escrow may go on. */
  opened: () => void;
}

/**
 * How a step leaves its row: `next` to go on at once, `wait` until the chain has said more, `rest` where only time or
 * other people can change anything, `ended` for good.
 */
export type Step = 'next' | 'wait' | 'rest' | 'ended';

/** An execution of which nothing is known yet. */
export function newLive({ isFresh, opened }: { isFresh: boolean; opened?: (() => void) | undefined }): Live {
  return {
    isFresh,
    snapshot: null,
    dispatchedAtMs: null,
    answer: null,
    result: null,
    ended: null,
    refused: null,
    opened: opened ?? (() => undefined),
  };
}

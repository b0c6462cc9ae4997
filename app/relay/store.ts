// The relay's own tables: their types, and the journal of executions with its forward-only moves.
// Two connections to one file: intents (what will be sent, what was verified) are on the disk before
// anything is done about them; notes (what the chain can tell again) are only written, and reach the
// disk with the next intent. A killed process loses neither, a power cut at most some notes.

import type { Kysely, Selectable } from 'kysely';
import type { IndexDatabase } from '../../indexer/database.ts';

export type ExecutionState =
  | 'accepted'
  | 'open_signed'
  | 'open_confirmed'
  | 'dispatched'
  | 'verified'
  | 'refunding'
  | 'settled'
  | 'refunded'
  | 'void'
  | 'parked';

/** Whether a refund has arrived: `claimable` waits for a missing account, `blocked` for a frozen one. */
export type RefundState = 'pending' | 'claimable' | 'blocked' | 'done';

export interface ExecutionsTable {
  execution_id: string;
  wallet: string;
  key_id: string;
  listing: string;
  listing_version: bigint;
  metadata_hash: string;
  nonce: string;
  price: bigint;
  max_cost: bigint;
  timeout_seconds: bigint;
  task: string;
  parameters: string;
  request_hash: string;
  state: ExecutionState;
  created_ms: bigint;
  /** The chain's clock when the caller's money was checked: what shows as initiated_at until the record has its own. */
  accepted_at: bigint;
  open_transaction: Buffer | null;
  open_signature: string | null;
  open_last_valid_height: bigint | null;
  open_before: bigint | null;
  opened_at: bigint | null;
  deadline: bigint | null;
  refund_at: bigint | null;
  fee_bps: bigint | null;
  dispatched_ms: bigint | null;
  execution_time_ms: bigint | null;
  settle_transaction: Buffer | null;
  settle_signature: string | null;
  settle_last_valid_height: bigint | null;
  refund_transaction: Buffer | null;
  refund_signature: string | null;
  refund_last_valid_height: bigint | null;
  refund_reason: bigint | null;
  refund_state: RefundState | null;
  settled_at: bigint | null;
  creator_amount: bigint | null;
  platform_amount: bigint | null;
  error_code: string | null;
  error_message: string | null;
  rebuilds: bigint;
}

export interface ResultsTable {
  execution_id: string;
  result: string;
  result_hash: string;
  signature: string;
  execution_signature: string | null;
  tokens_used: bigint | null;
  steps: string | null;
  execution_time_ms: bigint;
  token: string;
  verified_ms: bigint;
}

export interface ApiKeysTable {
  key_hash: string;
  key_id: string;
  wallet: string;
  name: string;
  created_ms: bigint;
  last_used_ms: bigint | null;
  revoked_ms: bigint | null;
}

export interface MetadataTable {
  metadata_hash: string;
  document: string;
  received_ms: bigint;
}

export interface LedgerTables {
  executions: ExecutionsTable;
  results: ResultsTable;
  api_keys: ApiKeysTable;
  metadata: MetadataTable;
}

/** The relay's tables, and the chain's (attached read-only by use) under `chain.`. */
export type LedgerDatabase = LedgerTables & { [K in keyof IndexDatabase & string as `chain.${K}`]: IndexDatabase[K] };

export type ExecutionRow = Selectable<ExecutionsTable>;
export type ResultRow = Selectable<ResultsTable>;
export type ClaimedExecution = Pick<
  ExecutionRow,
  | 'execution_id'
  | 'wallet'
  | 'key_id'
  | 'listing'
  | 'listing_version'
  | 'metadata_hash'
  | 'nonce'
  | 'price'
  | 'max_cost'
  | 'timeout_seconds'
  | 'task'
  | 'parameters'
  | 'request_hash'
  | 'accepted_at'
>;

/** A signed transaction as the journal keeps it. */
export interface SignedTransaction {
  bytes: Uint8Array;
  signature: string;
  lastValidHeight: bigint;
}

/** States that may move to each state; nothing ever moves back. */
const COMES_FROM: Record<Exclude<ExecutionState, 'accepted'>, readonly ExecutionState[]> = {
  open_signed: ['accepted', 'open_signed'],
  open_confirmed: ['open_signed'],
  dispatched: ['open_confirmed', 'dispatched'],
  verified: ['dispatched', 'verified'],
  refunding: ['open_confirmed', 'dispatched', 'verified', 'refunding', 'parked'],
  settled: ['verified', 'refunding', 'open_confirmed', 'dispatched', 'parked'],
  refunded: ['refunding', 'verified', 'open_confirmed', 'dispatched', 'parked'],
  void: ['accepted', 'open_signed', 'open_confirmed', 'dispatched', 'verified'],
  parked: ['open_signed', 'verified', 'refunding'],
};

/** The journal refuses a move that its table of states does not have. */
export class JournalConflict extends Error {}

export type Journal = ReturnType<typeof createJournal>;

/**
 * The journal over the two connections. Every move is one statement, so that no crash can fall between
 * two halves of it; a move that finds the row elsewhere throws JournalConflict.
 */
export function createJournal(intents: Kysely<LedgerTables>, notes: Kysely<LedgerTables>) {
  type Changes = Partial<Omit<ExecutionRow, 'execution_id' | 'state'>>;

  async function move(db: Kysely<LedgerTables>, id: string, state: keyof typeof COMES_FROM, changes: Changes) {
    const moved = await db
      .updateTable('executions')
      .set({ ...changes, state })
      .where('execution_id', '=', id)
      .where('state', 'in', COMES_FROM[state])
      .executeTakeFirst();
    if (moved.numUpdatedRows !== 1n)
      throw new JournalConflict(`execution ${id} cannot become ${state} from where it is`);
  }

  return {
    /** Take the id before anything else happens. Throws where it is taken. */
    async claim(row: ClaimedExecution, nowMs: number): Promise<void> {
      await notes
        .insertInto('executions')
        .values({ ...row, state: 'accepted', created_ms: BigInt(nowMs), rebuilds: 0n })
        .execute();
    },
    /** Intent: these bytes will be sent to fund the escrow. */
    openSigned(id: string, signed: SignedTransaction, openBefore: bigint): Promise<void> {
      return move(intents, id, 'open_signed', {
        open_transaction: Buffer.from(signed.bytes),
        open_signature: signed.signature,
        open_last_valid_height: signed.lastValidHeight,
        open_before: openBefore,
      });
    },
    openConfirmed(
      id: string,
      record: { openedAt: bigint; deadline: bigint; refundAt: bigint; feeBps: number },
    ): Promise<void> {
      return move(notes, id, 'open_confirmed', {
        opened_at: record.openedAt,
        deadline: record.deadline,
        refund_at: record.refundAt,
        fee_bps: BigInt(record.feeBps),
      });
    },
    /** The creator is about to be called; the first time stays. */
    dispatched(id: string, nowMs: number): Promise<void> {
      return move(notes, id, 'dispatched', { dispatched_ms: BigInt(nowMs) });
    },
    /** Keep an answer for good; a second, different one for the same execution is never taken. */
    async storeResult(row: ResultRow): Promise<void> {
      await notes
        .insertInto('results')
        .values(row)
        .onConflict((conflict) => conflict.column('execution_id').doNothing())
        .execute();
    },
    /** Intent: the answer is valid and these bytes will be sent to pay for it. */
    verified(id: string, signed: SignedTransaction, executionTimeMs: bigint, rebuilds: bigint): Promise<void> {
      return move(intents, id, 'verified', {
        settle_transaction: Buffer.from(signed.bytes),
        settle_signature: signed.signature,
        settle_last_valid_height: signed.lastValidHeight,
        execution_time_ms: executionTimeMs,
        rebuilds,
      });
    },
    /** Intent: the caller gets its money back; from here on nothing settles. */
    refunding(
      id: string,
      signed: SignedTransaction,
      why: { reason: number; code: string; message: string; rebuilds: bigint },
    ): Promise<void> {
      return move(intents, id, 'refunding', {
        refund_transaction: Buffer.from(signed.bytes),
        refund_signature: signed.signature,
        refund_last_valid_height: signed.lastValidHeight,
        refund_reason: BigInt(why.reason),
        refund_state: 'pending',
        error_code: why.code,
        error_message: why.message,
        rebuilds: why.rebuilds,
      });
    },
    settled(id: string, outcome: { settledAt: bigint; creatorAmount: bigint; platformAmount: bigint }): Promise<void> {
      return move(notes, id, 'settled', {
        settled_at: outcome.settledAt,
        creator_amount: outcome.creatorAmount,
        platform_amount: outcome.platformAmount,
      });
    },
    refunded(id: string, settledAt: bigint): Promise<void> {
      return move(notes, id, 'refunded', { settled_at: settledAt, refund_state: 'done' });
    },
    /** The open never landed and never will: nobody paid anything. */
    void(id: string, code: string, message: string): Promise<void> {
      return move(notes, id, 'void', { error_code: code, error_message: message });
    },
    /** Too many rebuilds: a person has to look. The chain still lets anyone refund after refund_at. */
    parked(id: string): Promise<void> {
      return move(intents, id, 'parked', {});
    },
    /** Say that a certain refund waits for the caller's account. */
    async refundWaits(id: string, state: 'claimable' | 'blocked'): Promise<void> {
      await notes
        .updateTable('executions')
        .set({ refund_state: state })
        .where('execution_id', '=', id)
        .where('state', '=', 'refunding')
        .execute();
    },
    /** Take over a record whose row was lost with an older ledger; it waits to be refunded. */
    async adopt(row: ClaimedExecution, record: Record<'openedAt' | 'deadline' | 'refundAt', bigint>, nowMs: number) {
      const values = {
        ...row,
        state: 'parked' as const,
        created_ms: BigInt(nowMs),
        opened_at: record.openedAt,
        deadline: record.deadline,
        refund_at: record.refundAt,
        error_message: 'The marketplace lost its record of this call before it could be served',
        rebuilds: 0n,
      };
      await intents
        .insertInto('executions')
        .values(values)
        .onConflict((conflict) => conflict.column('execution_id').doNothing())
        .execute();
    },
    get(id: string): Promise<ExecutionRow | undefined> {
      return notes.selectFrom('executions').selectAll().where('execution_id', '=', id).executeTakeFirst();
    },
    result(id: string): Promise<ResultRow | undefined> {
      return notes.selectFrom('results').selectAll().where('execution_id', '=', id).executeTakeFirst();
    },
    /** Ids of all rows that have not ended, oldest first. */
    async unfinished(): Promise<string[]> {
      const rows = await notes
        .selectFrom('executions')
        .select('execution_id')
        .where('state', 'not in', ['settled', 'refunded', 'void'])
        .orderBy('created_ms')
        .execute();
      return rows.map((row) => row.execution_id);
    },
  };
}

// The journal of executions with its forward-only moves.
// Intents (what will be sent, what was verified) are on the disk before anything is done about them; notes (what the
// chain can tell again) are only written, and reach the disk with the next intent. A killed process loses neither, a
// power cut at most some notes. Both go through one connection: a second one would find its pages overtaken each time.
// Several relays may share the file: a row is moved only by the one that owns it.

import { type Kysely, sql } from 'kysely';
import type { GroupCommit, Written } from './groupCommit.ts';
import { createPrepared } from './prepared.ts';
import { type ExecutionRow, type ExecutionState, IS_UNFINISHED, type LedgerTables, type ResultRow } from './tables.ts';

/** How long a relay counts as alive after it last said so; it does three times as often. */
export const LEASE_MS = 2_000;

/** By then an open that a node has confirmed is finalized or gone, seconds of the chain's clock. */
const FINALITY_SECONDS = 60n;

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
  | 'fingerprint'
>;

/** A signed transaction as the journal keeps it. */
export interface SignedTransaction {
  bytes: Uint8Array;
  signature: string;
  lastValidHeight: bigint;
}

/** One that was signed a moment ago, with what it costs where it lands, lamports. */
export interface NewTransaction extends SignedTransaction {
  fee: bigint;
}

/** States that may move to each state. Nothing moves back, but for an open and, by `takeBack`, an end that the chain rolled back. */
const COMES_FROM: Record<Exclude<ExecutionState, 'accepted'>, readonly ExecutionState[]> = {
  open_signed: ['accepted', 'open_confirmed', 'dispatched', 'verified'],
  open_confirmed: ['open_signed'],
  dispatched: ['open_confirmed', 'dispatched'],
  verified: ['dispatched', 'verified'],
  refunding: ['open_confirmed', 'dispatched', 'verified', 'refunding', 'parked'],
  settled: ['verified', 'refunding', 'open_confirmed', 'dispatched', 'parked'],
  refunded: ['refunding', 'verified', 'open_confirmed', 'dispatched', 'parked'],
  void: ['accepted', 'open_signed', 'open_confirmed', 'dispatched', 'verified', 'refunding', 'parked'],
  parked: ['open_signed', 'verified', 'refunding'],
};

/** The journal refuses a move that its table of states does not have, or of a row that another relay owns. */
export class JournalConflict extends Error {}

export type Journal = ReturnType<typeof createJournal>;

/**
 * The journal of the relay process named `owner`; `writes` and `db` are of one connection. Every move is one statement,
 * so that no crash can fall between two halves of it; a move that finds the row elsewhere, or another's, throws
 * JournalConflict. The row that is moved is given, and then is as the table has it.
 */
export function createJournal(writes: GroupCommit, db: Kysely<LedgerTables>, owner: string) {
  type Changes = Partial<Omit<ExecutionRow, 'execution_id' | 'state' | 'lease_owner'>>;
  type Moved = keyof typeof COMES_FROM;
  type Moving = Pick<ExecutionRow, 'execution_id' | 'fees'>;

  const { compile } = createPrepared();

  function update({ execution_id: id }: Moving, state: Moved, changes: Changes, signed?: NewTransaction) {
    const fee = signed?.fee;
    const name = [state, signed ? 'signed' : 'unsigned', ...Object.keys(changes)].join();
    const values = [
      ...Object.values(changes),
      state,
      ...(fee === undefined ? [] : [fee]),
      id,
      ...COMES_FROM[state],
      owner,
    ];
    return compile(name, values, () =>
      db
        .updateTable('executions')
        .set((row) => ({ ...changes, state, ...(fee !== undefined && { fees: row('fees', '+', fee) }) }))
        .where('execution_id', '=', id)
        .where('state', 'in', COMES_FROM[state])
        .where('lease_owner', '=', owner),
    );
  }

  /** The row as it is in the table now. */
  function follow(written: Written, row: Moving, state: Moved, changes: Changes, signed?: NewTransaction): void {
    if (written.changes !== 1) {
      throw new JournalConflict(`execution ${row.execution_id} cannot become ${state} from where it is`);
    }
    Object.assign(row, changes, { state, ...(signed && { fees: row.fees + signed.fee }) });
  }

  /** A move that is on the disk when it returns: `signed` will be sent, and costs its fee. */
  async function intend(row: Moving, state: Moved, changes: Changes, signed?: NewTransaction): Promise<void> {
    follow(await writes.intend(update(row, state, changes, signed)), row, state, changes, signed);
  }

  async function note(row: Moving, state: Moved, changes: Changes): Promise<void> {
    follow(await writes.note(update(row, state, changes)), row, state, changes);
  }

  /** Frees the id of a call that never paid; what was answered in vain must not answer another task. */
  async function forgetVoid(id: string): Promise<void> {
    const voided = db.deleteFrom('executions').where('execution_id', '=', id).where('state', '=', 'void');
    const { numDeletedRows } = await voided.executeTakeFirst();
    if (numDeletedRows > 0n) await db.deleteFrom('results').where('execution_id', '=', id).execute();
  }

  return {
    owner,
    /**
     * Take the id before anything else happens; returns its row. A call that repeats one which never paid takes its
     * place. Throws JournalConflict where the id is taken.
     */
    async claim(row: ClaimedExecution, nowMs: number): Promise<ExecutionRow> {
      if (row.fingerprint !== null) await forgetVoid(row.execution_id);
      const values = {
        ...row,
        state: 'accepted' as const,
        created_ms: BigInt(nowMs),
        rebuilds: 0n,
        lease_owner: owner,
      };
      const query = compile(`claim ${Object.keys(row).join()}`, Object.values(values), () =>
        db
          .insertInto('executions')
          .values(values)
          .onConflict((conflict) => conflict.column('execution_id').doNothing())
          .returningAll(),
      );
      const [claimed] = (await writes.note(query)).rows as ExecutionRow[];
      if (!claimed) throw new JournalConflict(`execution ${row.execution_id} is taken`);
      return claimed;
    },
    /** Take a funded record that its wallet opened itself, to run it from here. Throws where it is taken. */
    async claimOpened(
      row: ClaimedExecution,
      record: { openedAt: bigint; deadline: bigint; refundAt: bigint; feeBps: number },
      nowMs: number,
    ): Promise<void> {
      await forgetVoid(row.execution_id);
      const [claimed] = await db
        .insertInto('executions')
        .values({
          ...row,
          state: 'open_confirmed',
          created_ms: BigInt(nowMs),
          opened_at: record.openedAt,
          deadline: record.deadline,
          refund_at: record.refundAt,
          fee_bps: BigInt(record.feeBps),
          // Until then a node that does not show the record may only be behind.
          open_before: record.openedAt + FINALITY_SECONDS,
          rebuilds: 0n,
          lease_owner: owner,
        })
        .onConflict((conflict) => conflict.column('execution_id').doNothing())
        .execute();
      if (claimed?.numInsertedOrUpdatedRows !== 1n) throw new JournalConflict(`execution ${row.execution_id} is taken`);
    },
    /** How many executions a wallet has open, and what those that failed since then cost in network fees, lamports. */
    async burdenOf(wallet: string, sinceMs: number): Promise<{ open: number; lost: bigint }> {
      const { rows } = await sql<{ open: bigint; lost: bigint }>`SELECT
        (SELECT count(*) FROM executions WHERE wallet = ${wallet} AND ${IS_UNFINISHED})
          AS open,
        (SELECT coalesce(sum(fees), 0) FROM executions
          WHERE wallet = ${wallet} AND created_ms > ${BigInt(sinceMs)} AND state IN ('refunding', 'refunded', 'void')
            AND error_code <> 'service_unavailable') AS lost`.execute(db);
      return { open: Number(rows[0]!.open), lost: rows[0]!.lost };
    },
    /**
     * Intent: these bytes will be sent to fund the escrow; `reopens` counts, from 1, the times that the chain has rolled
     * it back.
     */
    openSigned(row: Moving, signed: NewTransaction, openBefore: bigint, reopens?: bigint): Promise<void> {
      return intend(
        row,
        'open_signed',
        {
          open_transaction: Buffer.from(signed.bytes),
          open_signature: signed.signature,
          open_last_valid_height: signed.lastValidHeight,
          open_before: openBefore,
          ...(reopens !== undefined && { reopens }),
        },
        signed,
      );
    },
    openConfirmed(
      row: Moving,
      record: { openedAt: bigint; deadline: bigint; refundAt: bigint; feeBps: number },
    ): Promise<void> {
      return note(row, 'open_confirmed', {
        opened_at: record.openedAt,
        deadline: record.deadline,
        refund_at: record.refundAt,
        fee_bps: BigInt(record.feeBps),
      });
    },
    /** The creator is about to be called; the first time stays. */
    dispatched(row: Moving & Pick<ExecutionRow, 'dispatched_ms'>, nowMs: number): Promise<void> {
      return note(row, 'dispatched', { dispatched_ms: row.dispatched_ms ?? BigInt(nowMs) });
    },
    /** Keep an answer for good; a second, different one for the same execution is never taken. */
    async storeResult(row: ResultRow): Promise<void> {
      const query = () =>
        db
          .insertInto('results')
          .values(row)
          .onConflict((conflict) => conflict.column('execution_id').doNothing());
      await writes.note(compile(`storeResult ${Object.keys(row).join()}`, Object.values(row), query));
    },
    /** Intent: the answer is valid and these bytes will be sent to pay for it. */
    verified(row: Moving, signed: NewTransaction, executionTimeMs: bigint, rebuilds: bigint): Promise<void> {
      return intend(
        row,
        'verified',
        {
          settle_transaction: Buffer.from(signed.bytes),
          settle_signature: signed.signature,
          settle_last_valid_height: signed.lastValidHeight,
          execution_time_ms: executionTimeMs,
          rebuilds,
        },
        signed,
      );
    },
    /** Intent: the caller gets its money back; from here on nothing settles. */
    refunding(
      row: Moving,
      signed: NewTransaction,
      why: { reason: number; code: string; message: string; rebuilds: bigint },
    ): Promise<void> {
      return intend(
        row,
        'refunding',
        {
          refund_transaction: Buffer.from(signed.bytes),
          refund_signature: signed.signature,
          refund_last_valid_height: signed.lastValidHeight,
          refund_reason: BigInt(why.reason),
          refund_state: 'pending',
          error_code: why.code,
          error_message: why.message,
          rebuilds: why.rebuilds,
        },
        signed,
      );
    },
    settled(row: Moving, outcome: { settledAt: bigint; creatorAmount: bigint; platformAmount: bigint }): Promise<void> {
      return note(row, 'settled', {
        settled_at: outcome.settledAt,
        creator_amount: outcome.creatorAmount,
        platform_amount: outcome.platformAmount,
      });
    },
    refunded(row: Moving & Pick<ExecutionRow, 'error_code'>, settledAt: bigint): Promise<void> {
      return note(row, 'refunded', { settled_at: settledAt, refund_state: 'done' });
    },
    /** The open never landed and never will: nobody paid anything. */
    void(row: Moving, code: string, message: string): Promise<void> {
      return note(row, 'void', { error_code: code, error_message: message });
    },
    /** Too many rebuilds: a person has to look. The chain still lets anyone refund after refund_at. */
    parked(row: Moving): Promise<void> {
      return intend(row, 'parked', {});
    },
    /** Say that a certain refund waits for the caller's account. */
    async refundWaits(id: string, state: 'claimable' | 'blocked'): Promise<void> {
      await db
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
        lease_owner: null,
      };
      await writes.intend(
        db
          .insertInto('executions')
          .values(values)
          .onConflict((conflict) => conflict.column('execution_id').doNothing())
          .compile(),
      );
    },
    async get(id: string): Promise<ExecutionRow | undefined> {
      const query = () => db.selectFrom('executions').selectAll().where('execution_id', '=', id);
      return (await db.executeQuery(compile('get', [id], query))).rows[0];
    },
    async result(id: string): Promise<ResultRow | undefined> {
      const query = () => db.selectFrom('results').selectAll().where('execution_id', '=', id);
      return (await db.executeQuery(compile('result', [id], query))).rows[0];
    },
    /** Say that this process is alive and keeps its rows; others may have them if it does not say so again in time. */
    async renewLease(nowMs: number): Promise<void> {
      const alive = { alive_until_ms: BigInt(nowMs + LEASE_MS) };
      await db
        .insertInto('relays')
        .values({ owner, ...alive })
        .onConflict((conflict) => conflict.column('owner').doUpdateSet(alive))
        .execute();
    },
    /** Leave all rows to whoever comes next. */
    async endLease(): Promise<void> {
      await db.deleteFrom('relays').where('owner', '=', owner).execute();
    },
    /** Take every unfinished row whose owner is not alive, and forget such owners. One statement each. */
    async takeOver(nowMs: number): Promise<void> {
      // A clock that was set back must not keep the dead alive: no lease lasts longer than LEASE_MS from now.
      const isAlive = sql<boolean>`alive_until_ms > ${BigInt(nowMs)} AND alive_until_ms <= ${BigInt(nowMs + LEASE_MS)}`;
      const alive = sql`SELECT owner FROM relays WHERE ${isAlive}`;
      await db
        .updateTable('executions')
        .set({ lease_owner: owner })
        .where(IS_UNFINISHED)
        .where(sql<boolean>`(lease_owner IS NULL OR (lease_owner <> ${owner} AND lease_owner NOT IN (${alive})))`)
        .execute();
      await db.deleteFrom('relays').where(sql<boolean>`NOT (${isAlive}) AND owner <> ${owner}`).execute();
    },
    /**
     * Rows that nobody has looked at since they ended, before this moment of the finalized chain, and whose own
     * transactions cannot land any more at its height.
     */
    unproven(finalizedHeight: bigint, finalizedNow: bigint, limit: number) {
      return db
        .selectFrom('executions')
        .select(['execution_id', 'state', 'settle_signature', 'refund_signature'])
        .where(sql<boolean>`state IN ('settled', 'refunded') AND is_final = 0`)
        .where('settled_at', '<', finalizedNow)
        .where(
          sql<boolean>`max(ifnull(settle_last_valid_height, 0), ifnull(refund_last_valid_height, 0)) < ${finalizedHeight}`,
        )
        .orderBy('created_ms')
        .limit(limit)
        .execute();
    },
    /** The chain shows these ends for good. */
    async proven(ids: string[]): Promise<void> {
      await db
        .updateTable('executions')
        .set({ is_final: 1n })
        .where('execution_id', 'in', sql<string>`(SELECT value FROM json_each(${JSON.stringify(ids)}))`)
        .execute();
    },
    /** Let a row go on, by this process, whose end the chain has taken back: nothing was finished by it. */
    async takeBack(row: Pick<ExecutionRow, 'execution_id' | 'state' | 'settle_signature' | 'refund_signature'>) {
      const isSettled = row.state === 'settled';
      const isSigned = (isSettled ? row.settle_signature : row.refund_signature) !== null;
      const before = isSettled ? ('verified' as const) : ('refunding' as const);
      await writes.intend(
        db
          .updateTable('executions')
          .set({
            state: isSigned ? before : 'parked',
            lease_owner: owner,
            ...(isSettled ? { creator_amount: null, platform_amount: null } : { refund_state: 'pending' as const }),
            settled_at: null,
          })
          .where('execution_id', '=', row.execution_id)
          .where('state', '=', row.state)
          .where('is_final', '=', 0n)
          .compile(),
      );
    },
    /** This process's rows that have not ended, oldest first. */
    unfinished() {
      return db
        .selectFrom('executions')
        .select(['execution_id', 'state', 'wallet', 'key_id', 'price'])
        .where(IS_UNFINISHED)
        .where('lease_owner', '=', owner)
        .orderBy('created_ms')
        .execute();
    },
  };
}

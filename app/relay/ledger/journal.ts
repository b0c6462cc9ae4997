// The journal of executions with its forward-only moves.
// Intents (what will be sent, what was verified) are on the disk before anything is done about them; notes (what the
// chain can tell again) are only written, and reach the disk with the next intent. A killed process loses neither, a
// power cut at most some notes. Both go through one connection: a second one would find its pages overtaken each time.
// Several relays may share the file: a row is moved only by the one that owns it.

import { type Kysely, sql } from 'kysely';
import type { GroupCommit, Written } from '../../database/groupCommit.ts';
import { createPrepared } from '../../database/prepared.ts';
import {
  type ExecutionRow,
  type ExecutionState,
  IS_UNFINISHED,
  isWaiting,
  type LedgerTables,
  type ResultRow,
} from './tables.ts';

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
  | 'listing_timeout_seconds'
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

/** What a row is made with; the other columns are as the table makes them. */
type Taken = Partial<Omit<ExecutionRow, 'execution_id' | 'wallet'>> & Pick<ExecutionRow, 'execution_id' | 'wallet'>;

/** The wallet has as many executions open as it may have. */
export class OpenLimitReached extends Error {}

const countOpen = (wallet: string) =>
  sql`SELECT count(*) FROM executions WHERE wallet = ${wallet} AND ${IS_UNFINISHED}`;

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

  /**
   * A new row, in the place of one that never paid where there is one: of that only the fees stay. Takes nothing where
   * the wallet has `openLimit` executions open already (0: no limit), counted by the statement that takes. Throws
   * JournalConflict where the id is taken, OpenLimitReached where the wallet has too many.
   */
  async function take(row: Taken, openLimit: number): Promise<ExecutionRow> {
    const { execution_id: id, wallet } = row;
    const columns = Object.keys(row) as (keyof Taken)[];
    const values = [...Object.values(row), id, id, ...(openLimit > 0 ? [wallet, openLimit] : [])];
    const query = compile(`take ${columns.join()} ${openLimit > 0}`, values, () => {
      const lost = sql<bigint>`(SELECT coalesce(max(lost_fees), 0) FROM executions WHERE execution_id = ${id})`;
      let fresh = db
        .selectNoFrom([...columns.map((column) => sql`${row[column]}`.as(column)), lost.as('lost_fees')])
        .where(sql<boolean>`NOT EXISTS (SELECT 1 FROM executions WHERE execution_id = ${id} AND state <> 'void')`);
      if (openLimit > 0) fresh = fresh.where(sql<boolean>`(${countOpen(wallet)}) < ${openLimit}`);
      return db
        .insertInto('executions')
        .orReplace()
        .columns([...columns, 'lost_fees'])
        .expression(fresh)
        .returningAll();
    });
    // The id of a call without an Idempotency-Key is random, so that nothing is there before it.
    const isFirst = row.state === 'accepted' && row.fingerprint === null;
    // What was answered in vain must not answer another task. Both are written in one transaction.
    const forgetting = isFirst ? null : writes.note(forgetResult(id));
    const [{ rows }] = await Promise.all([writes.note(query), forgetting]);
    const [taken] = rows as ExecutionRow[];
    if (taken) return taken;
    if (openLimit > 0) {
      const present = await get(id);
      if (!present || present.state === 'void') throw new OpenLimitReached();
    }
    throw new JournalConflict(`execution ${id} is taken`);
  }

  /** The result of a row that never paid. */
  function forgetResult(id: string) {
    const voided = sql`SELECT execution_id FROM executions WHERE execution_id = ${id} AND state = 'void'`;
    return compile('forgetResult', [id], () =>
      db.deleteFrom('results').where(sql<boolean>`execution_id = (${voided})`),
    );
  }

  async function get(id: string): Promise<ExecutionRow | undefined> {
    const query = () => db.selectFrom('executions').selectAll().where('execution_id', '=', id);
    return (await db.executeQuery(compile('get', [id], query))).rows[0];
  }

  return {
    owner,
    /**
     * Take the id before anything else happens; returns its row. A call that repeats one which never paid takes its
     * place. Throws as `take` does.
     */
    claim(row: ClaimedExecution, nowMs: number, openLimit = 0): Promise<ExecutionRow> {
      const first = { state: 'accepted' as const, created_ms: BigInt(nowMs), rebuilds: 0n, lease_owner: owner };
      return take({ ...row, ...first }, openLimit);
    },
    /** Take a funded record that its wallet opened itself, to run it from here. Throws as `take` does. */
    async claimOpened(
      row: ClaimedExecution,
      record: { openedAt: bigint; deadline: bigint; refundAt: bigint; feeBps: number },
      nowMs: number,
      openLimit = 0,
    ): Promise<void> {
      const funded = {
        state: 'open_confirmed' as const,
        created_ms: BigInt(nowMs),
        opened_at: record.openedAt,
        deadline: record.deadline,
        refund_at: record.refundAt,
        fee_bps: BigInt(record.feeBps),
        // Until then a node that does not show the record may only be behind.
        open_before: record.openedAt + FINALITY_SECONDS,
        rebuilds: 0n,
        lease_owner: owner,
      };
      await take({ ...row, ...funded }, openLimit);
    },
    /** What a wallet's executions that failed since then cost in network fees, lamports. */
    async lostFeesOf(wallet: string, sinceMs: number): Promise<bigint> {
      const { rows } = await sql<{ lost: bigint }>`
        SELECT coalesce(sum(lost_fees + CASE
          WHEN state IN ('refunding', 'refunded') AND error_code <> 'service_unavailable' THEN fees ELSE 0 END), 0) AS lost
        FROM executions WHERE wallet = ${wallet} AND created_ms > ${BigInt(sinceMs)}`.execute(db);
      return rows[0]!.lost;
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
    /**
     * Keep an answer for good, and return the one that is kept: a second, different one for the same execution is never
     * taken. Throws JournalConflict where the execution is another relay's.
     */
    async storeResult(row: ResultRow): Promise<ResultRow> {
      const columns = Object.keys(row) as (keyof ResultRow)[];
      const query = () =>
        db
          .insertInto('results')
          .columns(columns)
          .expression(
            db
              .selectNoFrom(columns.map((column) => sql`${row[column]}`.as(column)))
              .where(
                sql<boolean>`EXISTS (SELECT 1 FROM executions WHERE execution_id = ${row.execution_id} AND lease_owner = ${owner})`,
              ),
          )
          // Changes nothing, and has the present row returned.
          .onConflict((conflict) =>
            conflict.column('execution_id').doUpdateSet((build) => ({ token: build.ref('results.token') })),
          )
          .returningAll();
      const values = [...Object.values(row), row.execution_id, owner];
      const { rows } = await writes.note(compile(`storeResult ${columns.join()}`, values, query));
      const [stored] = rows as ResultRow[];
      if (!stored) throw new JournalConflict(`execution ${row.execution_id} is another relay's`);
      return stored;
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
    /** Intent: the caller gets its money back; from here on nothing settles. One that waits is still called so. */
    refunding(
      row: Moving & Pick<ExecutionRow, 'refund_state'>,
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
          refund_state: isWaiting(row) ? row.refund_state : 'pending',
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
    /**
     * The open never landed and never will: its caller paid nothing. `lost` is what the chain took for it, lamports.
     * What was signed for it is proven at finality once more.
     */
    void(
      row: Moving & Pick<ExecutionRow, 'open_transaction' | 'lost_fees' | 'accepted_at'>,
      code: string,
      message: string,
      lost = 0n,
    ): Promise<void> {
      // No record tells when; and the chain's clock may be ahead of ours.
      const now = BigInt(Math.floor(Date.now() / 1_000));
      return note(row, 'void', {
        settled_at: now > row.accepted_at ? now : row.accepted_at,
        error_code: code,
        error_message: message,
        lost_fees: row.lost_fees + lost,
        is_final: row.open_transaction ? 0n : 1n,
      });
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
    /**
     * Take over an open record whose row was lost with an older ledger, or counted as never opened: it waits to be
     * refunded. Changes nothing where another row has the id.
     */
    async adopt(row: ClaimedExecution, record: Record<'openedAt' | 'deadline' | 'refundAt', bigint>, nowMs: number) {
      const parked = {
        state: 'parked' as const,
        created_ms: BigInt(nowMs),
        opened_at: record.openedAt,
        deadline: record.deadline,
        refund_at: record.refundAt,
        error_message: 'The marketplace lost its record of this call before it could be served',
        rebuilds: 0n,
        lease_owner: null,
      };
      try {
        await take({ ...row, ...parked }, 0);
        return true;
      } catch (error) {
        if (error instanceof JournalConflict) return false;
        throw error;
      }
    },
    get,
    async result(id: string): Promise<ResultRow | undefined> {
      const query = () => db.selectFrom('results').selectAll().where('execution_id', '=', id);
      return (await db.executeQuery(compile('result', [id], query))).rows[0];
    },
    /** Let recovery leave the row alone until then. */
    async restUntil(id: string, untilMs: number): Promise<void> {
      await db
        .updateTable('executions')
        .set({ rest_until_ms: BigInt(untilMs) })
        .where('execution_id', '=', id)
        .where('lease_owner', '=', owner)
        .execute();
    },
    /** Take every unfinished row whose owner is none of these. */
    async takeRowsOfOthersThan(alive: string[]): Promise<void> {
      const owners = sql`SELECT value FROM json_each(${JSON.stringify([owner, ...alive])})`;
      await db
        .updateTable('executions')
        .set({ lease_owner: owner, rest_until_ms: 0n })
        .where(IS_UNFINISHED)
        .where(sql<boolean>`(lease_owner IS NULL OR lease_owner NOT IN (${owners}))`)
        .execute();
    },
    /**
     * Rows that nobody has looked at since they ended, before this moment of the finalized chain, and whose own
     * transactions cannot land any more at its height.
     */
    unproven(finalizedHeight: bigint, finalizedNow: bigint, limit: number) {
      return (
        db
          .selectFrom('executions')
          .select(['execution_id', 'state', 'settle_signature', 'refund_signature'])
          .where(sql<boolean>`state IN ('settled', 'refunded', 'void') AND is_final = 0`)
          // An open that counts as never landed could still have done so until open_before.
          .where(
            sql<boolean>`CASE state WHEN 'void' THEN max(settled_at, ifnull(open_before, 0)) ELSE settled_at END < ${finalizedNow}`,
          )
          .where(
            sql<boolean>`max(ifnull(open_last_valid_height, 0), ifnull(settle_last_valid_height, 0), ifnull(refund_last_valid_height, 0)) < ${finalizedHeight}`,
          )
          .orderBy('created_ms')
          .limit(limit)
          .execute()
      );
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
    /**
     * A page of this process's rows that have not ended and do not rest, oldest first: those after `after`, or from the
     * oldest on.
     */
    unfinished(nowMs: number, limit: number, after?: Pick<ExecutionRow, 'created_ms' | 'execution_id'>) {
      let query = db
        .selectFrom('executions')
        .select(['execution_id', 'state', 'wallet', 'key_id', 'price', 'created_ms'])
        .where(IS_UNFINISHED)
        .where('lease_owner', '=', owner)
        .where('rest_until_ms', '<=', BigInt(nowMs));
      if (after) {
        query = query.where(sql<boolean>`(created_ms, execution_id) > (${after.created_ms}, ${after.execution_id})`);
      }
      return query.orderBy('created_ms').orderBy('execution_id').limit(limit).execute();
    },
  };
}

/** How a row of the journal begins: by a call, by an open of the wallet's own, or by a record that no row is of. */
import { sql } from 'kysely';
import { readExecutionRow } from './executions.ts';
import type { OpenedRecord } from './notes.ts';
import { forgetResult } from './results.ts';
import { IS_UNFINISHED, type JournalRow } from './tables.ts';
import { JournalConflict, type Writing } from './writing.ts';

/** By then an open that a node has confirmed is finalized or gone, seconds of the chain's clock. */
const FINALITY_SECONDS = 60n;

export type ClaimedExecution = Pick<
  JournalRow,
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

/** What a row is made with; the other columns are as the table makes them. */
type Taken = Partial<Omit<JournalRow, 'execution_id' | 'wallet'>> & Pick<JournalRow, 'execution_id' | 'wallet'>;

/** The wallet has as many executions open as it may have. */
export class OpenLimitReached extends Error {}

const countOpen = (wallet: string) =>
  sql`SELECT count(*) FROM executions WHERE wallet = ${wallet} AND ${IS_UNFINISHED}`;

/**
 * A new row, in the place of one that never paid where there is one: of that only the fees stay. Takes nothing where
 * the wallet has `openLimit` executions open already (0: no limit), counted by the statement that takes. Throws
 * JournalConflict where the id is taken, OpenLimitReached where the wallet has too many.
 */
async function take(writing: Writing, row: Taken, openLimit: number): Promise<JournalRow> {
  const { writes, db, compile } = writing;
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
  const forgetting = isFirst ? null : writes.note(forgetResult(writing, id));
  const [{ rows }] = await Promise.all([writes.note(query), forgetting]);
  const [taken] = rows as JournalRow[];
  if (taken) return taken;
  if (openLimit > 0) {
    const present = await readExecutionRow(writing, id);
    if (!present || present.state === 'void') throw new OpenLimitReached();
  }
  throw new JournalConflict(`execution ${id} is taken`);
}

/** The ways in which a row of one journal begins. */
export function createClaims(writing: Writing) {
  const { owner } = writing;
  return {
    /**
     * Take the id before anything else happens; returns its row. A call that repeats one which never paid takes its
     * place. `openLimit` is how many executions the wallet may have open, 0 for any number. Throws JournalConflict where
     * the id is taken, OpenLimitReached where the wallet has too many open.
     */
    claim(row: ClaimedExecution, nowMs: number, openLimit = 0): Promise<JournalRow> {
      const first = { state: 'accepted' as const, created_ms: BigInt(nowMs), rebuilds: 0n, lease_owner: owner };
      return take(writing, { ...row, ...first }, openLimit);
    },
    /** Take a funded record that its wallet opened itself, to run it from here. Throws as `claim` does. */
    async claimOpened(row: ClaimedExecution, record: OpenedRecord, nowMs: number, openLimit = 0): Promise<void> {
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
      await take(writing, { ...row, ...funded }, openLimit);
    },
    /**
     * Take over an open record whose row was lost with an older ledger, or counted as never opened: it waits to be
     * refunded. Changes nothing, and returns false, where another row has the id.
     */
    async adopt(row: ClaimedExecution, record: Omit<OpenedRecord, 'feeBps'>, nowMs: number): Promise<boolean> {
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
        await take(writing, { ...row, ...parked }, 0);
        return true;
      } catch (error) {
        if (error instanceof JournalConflict) return false;
        throw error;
      }
    },
  };
}

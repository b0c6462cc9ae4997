/** How a row of the journal begins: by a call, by an open of the wallet's own, or by a record that no row is of. */
import { sql } from 'kysely';
import { readExecutionRow } from './executions.ts';
import {
  type Budgets,
  fits,
  type Limits,
  limitsOf,
  meRow,
  meValues,
  readSums,
  SUMS,
  type Sums,
  WAYS_SOURCE,
  type Way,
  waysJson,
} from './funding.ts';
import type { OpenedRecord } from './notes.ts';
import { forgetResult } from './results.ts';
import type { JournalRow } from './tables.ts';
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
type Taken = Partial<Omit<JournalRow, 'execution_id' | 'wallet' | 'listing'>> &
  Pick<JournalRow, 'execution_id' | 'wallet' | 'listing' | 'created_ms'>;

/** How a call may be paid for, the best way first, and what holds it back. */
export interface Funding {
  ways: readonly Way[];
  budgets: Budgets;
  /** Ids that the same request would have on other days: one of them in use takes this one too. */
  rivals?: readonly string[];
}

/** No way of paying fits what is there: `sums` says why, as it is now. */
export class NotFunded extends Error {
  constructor(readonly sums: Sums) {
    super('the budgets allow no way to pay for the call');
  }
}

const NOTHING: Way = { gas: 0n, house: 0n, recordRent: 0n, escrowRent: 0n, mayBurn: 0n };

/**
 * A new row, in the place of one that never paid where there is one: of that only what it cost stays. How it is paid for,
 * and whether it may be, is decided by the statement that takes it. Throws JournalConflict where the id is taken,
 * NotFunded where nothing pays.
 */
async function take(
  writing: Writing,
  row: Taken,
  ways: readonly Way[],
  limits: Limits | null,
  rivals: readonly string[],
) {
  const { writes, db, compile } = writing;
  const { execution_id: id, wallet, listing, created_ms: nowMs } = row;
  const columns = Object.keys(row) as (keyof Taken)[];
  const json = waysJson(ways);
  const taking = JSON.stringify([id, ...rivals]);
  const values = [
    ...meValues(id, wallet, listing, nowMs),
    id,
    ...Object.values(row),
    json,
    taking,
    ...(limits ? Object.values(limits) : []),
  ];
  const build = () => sql<JournalRow>`
    WITH ${meRow(id, wallet, listing, nowMs)}, ${SUMS},
    before AS (SELECT coalesce(max(lost_fees), 0) AS lost, coalesce(max(given_lamports), 0) AS given_before,
      coalesce(max(trials), 0) AS trials_before FROM executions WHERE execution_id = ${id})
    INSERT OR REPLACE INTO executions (${sql.join(columns.map((column) => sql.ref(column)))}, lost_fees,
      given_lamports, trials, gas_lamports, house_lamports, record_lent, escrow_lent, may_burn_lamports)
    SELECT ${sql.join(columns.map((column) => sql`${row[column]}`))}, lost,
      given_before + house, trials_before + (house > 0), gas, house, record_rent, escrow_rent,
      CASE WHEN is_proven THEN 0 ELSE may_burn END
    FROM sums, before, ${sql.raw(WAYS_SOURCE)}${json})) AS way
    WHERE NOT EXISTS (SELECT 1 FROM executions WHERE state <> 'void'
      AND execution_id IN (SELECT value FROM json_each(${taking})))
    ${limits ? sql`AND ${fits(limits)}` : sql``}
    ORDER BY rank LIMIT 1 RETURNING *`;
  const query = compile(`take ${columns.join()} ${limits !== null}`, values, () => ({
    compile: () => build().compile(db),
  }));
  // The id of a call without an Idempotency-Key is random, so that nothing is there before it.
  const isFirst = row.state === 'accepted' && row.fingerprint === null;
  // What was answered in vain must not answer another task. Both are written in one transaction.
  const forgetting = isFirst ? null : writes.note(forgetResult(writing, id));
  const [{ rows }] = await Promise.all([writes.note(query), forgetting]);
  const [taken] = rows as JournalRow[];
  if (taken) return taken;
  for (const other of limits ? [id, ...rivals] : []) {
    const present = await readExecutionRow(writing, other);
    if (present && present.state !== 'void') throw new JournalConflict(`execution ${other} is taken`);
  }
  if (limits) throw new NotFunded(await readSums(writing, wallet, listing, nowMs));
  throw new JournalConflict(`execution ${id} is taken`);
}

/** The ways in which a row of one journal begins. */
export function createClaims(writing: Writing) {
  const { owner } = writing;
  return {
    /**
     * Take the id before anything else happens; returns its row, which says how it is paid for. A call that repeats one
     * which never paid takes its place. Throws JournalConflict where the id or a rival is taken, NotFunded where the
     * wallet has too many opens in flight, or no way of paying fits the budgets.
     */
    claim(row: ClaimedExecution, nowMs: number, { ways, budgets, rivals = [] }: Funding): Promise<JournalRow> {
      const first = { state: 'accepted' as const, created_ms: BigInt(nowMs), rebuilds: 0n, lease_owner: owner };
      return take(writing, { ...row, ...first }, ways, limitsOf(budgets, true), rivals);
    },
    /** Take a funded record that its wallet opened itself, to run it from here. Throws as `claim` does. */
    async claimOpened(row: ClaimedExecution, record: OpenedRecord, nowMs: number, funding: Funding): Promise<void> {
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
      await take(writing, { ...row, ...funded }, funding.ways, limitsOf(funding.budgets, false), []);
    },
    /**
     * Take over an open record whose row was lost with an older ledger, or counted as never opened: it waits to be
     * refunded. `way` is what the record holds, and what of it the operator has lent. Changes nothing, and returns
     * false, where another row has the id.
     */
    async adopt(
      row: ClaimedExecution,
      record: Omit<OpenedRecord, 'feeBps'>,
      nowMs: number,
      way: Way = NOTHING,
    ): Promise<boolean> {
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
        await take(writing, { ...row, ...parked }, [way], null, []);
        return true;
      } catch (error) {
        if (error instanceof JournalConflict) return false;
        throw error;
      }
    },
    /** What the wallet and the listing have in flight, at risk and burnt now. */
    sumsOf: (wallet: string, listing: string, nowMs: number): Promise<Sums> =>
      readSums(writing, wallet, listing, BigInt(nowMs)),
  };
}

/** How a row of the journal begins: by a call, by an open of the wallet's own, or by a record that no row is of. */
import { sql } from 'kysely';
import { readExecutionRow } from './executions.ts';
import {
  type Asking,
  type Budgets,
  CLAIM_SUMS,
  fits,
  type Held,
  type Limits,
  limitsOf,
  meRow,
  meValues,
  type Purse,
  purseHas,
  purseValues,
  readHeld,
  readSums,
  type Sums,
  type Way,
  waysRows,
  waysValues,
} from './funding.ts';
import type { OpenedRecord } from './notes.ts';
import { forgetResult } from './results.ts';
import { EXECUTION_COLUMNS, type JournalRow } from './tables.ts';
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
  /** What the wallet has for it; null where its money is in the escrow already. */
  purse: Purse | null;
  /** Until when what the purse shows may be counted on, on performance.now()'s clock. */
  until?: number;
  /** Ids that the same request would have on other days: one of them in use takes this one too. */
  rivals?: readonly string[];
}

/** The money is promised to others, or no way of paying fits what is there: `sums` says why, as it is now. */
export class NotFunded extends Error {
  constructor(readonly sums: Sums & Held) {
    super('nothing that is left pays for the call');
  }
}

/** By the time that it was the claim's turn, what its accounts had shown was too old to be counted on. */
export class TooOld extends Error {
  constructor() {
    super('the accounts of the claim are too old');
  }
}

const NOTHING: Way = { gas: 0n, house: 0n, recordRent: 0n, escrowRent: 0n, tank: 0n, mayBurn: 0n };
/** Of nobody's accounts: nothing is held against them. */
const NO_SLOT = 2n ** 53n;

/** What must fit for a claim, and which other ids must be free. */
interface Conditions {
  ways: readonly Way[];
  limits: Limits | null;
  purse: Purse | null;
  rivals: readonly string[];
  until?: number | undefined;
}

/** A row that never paid is as if it had not been, but for what it cost. */
const REPLACING = sql.join(
  EXECUTION_COLUMNS.filter((column) => column !== 'execution_id').map(
    (column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`,
  ),
);

/** The statement that takes a row, where all that it is held against allows it; it returns the row. */
function taking({ db, compile }: Writing, row: Taken, me: Asking, { ways, limits, purse, rivals }: Conditions) {
  const columns = Object.keys(row) as (keyof Taken)[];
  const ids = [row.execution_id, ...rivals];
  const values = [
    ...meValues(me),
    row.execution_id,
    ...Object.values(row),
    ...waysValues(ways),
    ...ids,
    ...(limits ? Object.values(limits) : []),
    ...(purse ? purseValues(purse) : []),
  ];
  const build = () => sql<JournalRow>`
    WITH ${meRow(me)}, ${CLAIM_SUMS},
    before AS (SELECT coalesce(max(lost_fees), 0) AS lost, coalesce(max(given_lamports), 0) AS given_before,
      coalesce(max(trials), 0) AS trials_before FROM executions WHERE execution_id = ${row.execution_id})
    INSERT INTO executions (${sql.join(columns.map((column) => sql.ref(column)))}, lost_fees,
      given_lamports, trials, gas_lamports, house_lamports, record_lent, escrow_lent, tank_lamports, may_burn_lamports)
    SELECT ${sql.join(columns.map((column) => sql`${row[column]}`))}, lost,
      given_before + house, trials_before + CASE WHEN house > 0 THEN 1 ELSE 0 END, gas, house, record_rent, escrow_rent,
      tank, CASE WHEN is_proven = 1 THEN 0 ELSE may_burn END
    FROM sums, before, ${waysRows(ways)}
    WHERE NOT EXISTS (SELECT 1 FROM executions WHERE state <> 'void' AND execution_id IN (${sql.join(ids)}))
    ${limits ? sql`AND ${fits(limits)}` : sql``}
    ${purse ? sql`AND ${purseHas(purse)}` : sql``}
    ORDER BY rank LIMIT 1
    ON CONFLICT (execution_id) DO UPDATE SET ${REPLACING} WHERE executions.state = 'void'
    RETURNING *`;
  const name = ['take', ways.length, rivals.length, limits ? 'limited' : '', purse ? 'purse' : '', ...columns];
  return compile(name.join(), values, () => ({ compile: () => build().compile(db) }));
}

/**
 * A new row, in the place of one that never paid where there is one: of that only what it cost stays. How it is paid for,
 * and whether it may be, is decided by the statement that takes it, which no other claim of the wallet, and none that is
 * held against the same totals, runs beside. Throws JournalConflict where the id is taken, NotFunded where nothing pays.
 */
async function take(writing: Writing, row: Taken, conditions: Conditions) {
  const { execution_id: id, wallet, listing, created_ms: nowMs } = row;
  const { limits, purse, rivals, until = Number.POSITIVE_INFINITY } = conditions;
  const me = { id, wallet, listing, keyId: purse?.keyId ?? '', slot: purse?.slot ?? NO_SLOT, nowMs };
  // The id of a call without an Idempotency-Key is random, so that nothing is there before it.
  const isFirst = row.state === 'accepted' && row.fingerprint === null;
  // What was answered in vain must not answer another task.
  const forgetting = isFirst ? [] : [forgetResult(writing, id)];
  const queries = [...forgetting, taking(writing, row, me, conditions)];
  // Where many wait for a connection, or for the claims of the same wallet, that takes a while.
  const requireFresh = () => {
    if (performance.now() > until) throw new TooOld();
  };
  const locks = [`wallet ${wallet}`, ...(limits ? ['totals'] : [])];
  const written = conditions.ways.length === 0 ? [] : await writing.writes.alone(locks, queries, requireFresh);
  const [taken] = (written.at(-1)?.rows ?? []) as JournalRow[];
  if (taken) return taken;
  for (const other of limits ? [id, ...rivals] : []) {
    const present = await readExecutionRow(writing, other);
    if (present && present.state !== 'void') throw new JournalConflict(`execution ${other} is taken`);
  }
  if (limits) throw new NotFunded(await readSums(writing, me));
  throw new JournalConflict(`execution ${id} is taken`);
}

/** The ways in which a row of one journal begins. */
export function createClaims(writing: Writing) {
  const { owner } = writing;
  return {
    /**
     * Take the id before anything else happens; returns its row, which says how it is paid for. A call that repeats one
     * which never paid takes its place. Throws JournalConflict where the id or a rival is taken, NotFunded where the
     * wallet has too many opens in flight, its money is promised to others, or no way of paying fits the budgets; TooOld
     * where its turn comes after `until`.
     */
    claim(row: ClaimedExecution, nowMs: number, funding: Funding): Promise<JournalRow> {
      const { ways, budgets, purse, until, rivals = [] } = funding;
      const first = { state: 'accepted' as const, created_ms: BigInt(nowMs), rebuilds: 0n, lease_owner: owner };
      return take(writing, { ...row, ...first }, { ways, limits: limitsOf(budgets, true), purse, rivals, until });
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
      const { ways, budgets, purse } = funding;
      await take(writing, { ...row, ...funded }, { ways, limits: limitsOf(budgets, false), purse, rivals: [] });
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
        await take(writing, { ...row, ...parked }, { ways: [way], limits: null, purse: null, rivals: [] });
        return true;
      } catch (error) {
        if (error instanceof JournalConflict) return false;
        throw error;
      }
    },
    /** What the wallet and the listing have in flight, at risk and burnt now. */
    sumsOf: (wallet: string, listing: string, nowMs: number): Promise<Sums> =>
      readSums(writing, { id: '', wallet, listing, keyId: '', slot: NO_SLOT, nowMs: BigInt(nowMs) }),
    /** What is promised of what accounts of this slot show of a wallet and one of its keys. */
    heldOf: (wallet: string, keyId: string, slot: bigint): Promise<Held> => readHeld(writing, wallet, keyId, slot),
  };
}

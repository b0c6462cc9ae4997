/** Creates rows of the journal: for a call, for an execution that a wallet opened itself, or for an orphan. */
import { sql } from 'kysely';
import type { Named } from '../../database/prepared.ts';
import { IS_KEYED, readByDeposit, readExecutionRow, readIdByTail, TAIL } from './executions.ts';
import {
  covers,
  type Funds,
  fits,
  type Lending,
  type Limits,
  limitsOf,
  type Money,
  moneyOf,
  type Way,
  waysOf,
  waysRows,
} from './funding.ts';
import { EXECUTIONS_COLUMNS } from './generated.ts';
import type { OpenedRecord } from './notes.ts';
import { type Asking, type Held, meOf, meRow, readHeld, readSums, SUMS, type Sums } from './sums.ts';
import type { ExecutionColumns, JournalRow } from './tables.ts';
import { readTransactions } from './transactions.ts';
import { compilable, JournalConflict, type Writing } from './writing.ts';

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

/** A call that an x402 client pays for, with its payment. Only the client has signed the payment so far. */
export type ClaimedDeposit = ClaimedExecution &
  Pick<JournalRow, 'names_payer' | 'service_fee' | 'payment_id' | 'payment' | 'payment_last_valid_height'> & {
    deposit: string;
  };

/** The columns of a new row; the others get the table's defaults. */
type Taken = Partial<Omit<ExecutionColumns, 'execution_id' | 'wallet' | 'listing'>> &
  Pick<ExecutionColumns, 'execution_id' | 'wallet' | 'listing' | 'created_ms'>;

/** The ways to pay for a call, best first, and the limits on it. */
export interface Funding {
  ways: readonly Way[];
  lending: Lending;
  /** The wallet's money for it; null if that is in the escrow already. */
  funds: Funds | null;
}

/** The money is reserved for other calls, or no way to pay fits the limits. `sums` shows why. */
export class NotFunded extends Error {
  constructor(readonly sums: Sums & Held) {
    super('the money is reserved for other calls, or every way to pay exceeds a limit');
  }
}

const NOTHING: Way = { fee: 0n, repaid: 0n, gas: 0n, recordRent: 0n, escrowRent: 0n, gasBalance: 0n };
/** Later than any slot, so that no landed open counts as a reservation. */
const NO_SLOT = 2n ** 53n;

/** The conditions of a claim. */
interface Conditions {
  ways: readonly Way[];
  limits: Limits | null;
  funds: Funds | null;
}

/** A new call replaces a void row, but keeps the costs of the old one. */
const REPLACING = sql.join(
  EXECUTIONS_COLUMNS.filter((column) => column !== 'execution_id').map(
    (column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`,
  ),
);

const ALL = sql.join(EXECUTIONS_COLUMNS.map((column) => sql.ref(column)));

/** A row with the number of transactions that were signed for earlier calls of its id. */
type TakenRow = ExecutionColumns & { signed: bigint };

/** The values of a claim; those of limits, money and ways only if it has them. */
type ClaimValues = Required<Taken> & ReturnType<typeof meOf> & Limits & Money;

/** The statement that inserts the row if all limits allow it; it returns the row. */
function taking({ db, compile }: Writing, row: Taken, me: Asking, { ways, limits, funds }: Conditions) {
  const columns = Object.keys(row) as (keyof Taken)[];
  const isDeposit = row.deposit != null;
  const isKeyed = row.fingerprint != null;
  const values: Record<string, unknown> = {
    ...row,
    ...meOf(me),
    ...waysOf(ways),
    ...limits,
    ...(funds && moneyOf(funds)),
  };
  const build = (given: Named<Record<string, unknown>>) => {
    const named = given as Named<ClaimValues>;
    return sql<TakenRow>`
    WITH ${meRow(named)}, ${SUMS},
    before AS (SELECT coalesce(max(lost_fees), 0) AS lost, coalesce(max(listing_fees), 0) AS listing_lost_before,
      coalesce(max(lost_ms), 0) AS lost_before, coalesce(max(repaid_lamports), 0) AS repaid_before
      FROM executions WHERE execution_id = ${named.execution_id})
    INSERT INTO executions (${sql.join(columns.map((column) => sql.ref(column)))}, lost_fees, listing_fees, lost_ms,
      fee_lamports, repaid_lamports, gas_lamports, record_lent, escrow_lent, gas_balance_lamports)
    SELECT ${sql.join(columns.map((column) => named[column]))}, lost, listing_lost_before, lost_before, fee,
      ${limits ? sql.ref('repaid') : sql.ref('repaid_before')}, gas, record_rent, escrow_rent, gas_balance
    FROM sums, before, ${waysRows(ways.length, given as Named<ReturnType<typeof waysOf>>)}
    WHERE NOT EXISTS (SELECT 1 FROM executions WHERE state <> 'void' AND execution_id = ${named.execution_id})
    ${isKeyed ? isFirst(named) : sql``}
    ${isDeposit ? isUnused(named) : sql``}
    ${limits ? sql`AND ${fits(named, isDeposit ? 'x402' : 'keys')}` : sql``}
    ${funds ? sql`AND ${covers(named)}` : sql``}
    ORDER BY rank LIMIT 1
    ON CONFLICT (execution_id) DO UPDATE SET ${REPLACING} WHERE executions.state = 'void'
    RETURNING ${ALL}, (SELECT count(*) FROM transactions AS t WHERE t.execution_id = executions.execution_id) AS signed`;
  };
  const name = ['take', ways.length, isKeyed ? 'keyed' : '', limits ? 'limited' : '', funds ? 'funds' : '', ...columns];
  return compile(name.join(), values, (named) => compilable(db, build(named)));
}

/** True if the wallet has no other call with this Idempotency-Key. This is indexed. */
const isFirst = (named: Named<Pick<Taken, 'wallet' | 'nonce'>>) => sql`
  AND NOT EXISTS (SELECT 1 FROM executions WHERE ${IS_KEYED} AND wallet = ${named.wallet}
    AND ${TAIL} = substr(CAST(${named.nonce} AS TEXT), 9))`;

/** True if no other call has this deposit, or this payer's id of the payment. Both are indexed. */
const isUnused = (named: Named<Pick<Taken, 'deposit' | 'wallet' | 'payment_id'>>) => sql`
  AND NOT EXISTS (SELECT 1 FROM executions WHERE state <> 'void' AND deposit = ${named.deposit})
  AND NOT EXISTS (SELECT 1 FROM executions WHERE state <> 'void' AND wallet = ${named.wallet}
    AND payment_id = CAST(${named.payment_id} AS TEXT))`;

/**
 * Inserts a new row, or replaces a void one and keeps only its costs. The statement itself decides if and how the call
 * is paid for. It runs alone among claims of the same wallet, and among claims against the same totals. Throws
 * JournalConflict if the id is taken, NotFunded if nothing pays.
 */
async function take(writing: Writing, row: Taken, conditions: Conditions): Promise<JournalRow> {
  const { execution_id: id, wallet, listing, created_ms: nowMs } = row;
  const { limits, funds } = conditions;
  const me = { id, wallet, listing, keyId: funds?.keyId ?? '', slot: funds?.slot ?? NO_SLOT, nowMs };
  const locks = [`wallet ${wallet}`, ...(limits ? ['totals'] : [])];
  const claiming = () => writing.writes.underLocks(locks, [taking(writing, row, me, conditions)]);
  const [written] = conditions.ways.length === 0 ? [] : await claiming();
  const [taken] = (written?.rows ?? []) as TakenRow[];
  if (taken) {
    const { signed, ...columns } = taken;
    return { ...columns, transactions: signed > 0n ? await readTransactions(writing, id) : [] };
  }
  const present = limits ? await readExecutionRow(writing, id) : undefined;
  if (present && present.state !== 'void') throw new JournalConflict(`execution ${id} is taken`);
  if (row.fingerprint != null && (await readIdByTail(writing.db, wallet, Buffer.from(row.nonce!, 'hex').subarray(4)))) {
    throw new JournalConflict(`the Idempotency-Key of execution ${id} is taken`);
  }
  if (row.deposit != null && (await readByDeposit(writing.db, row.deposit))) {
    throw new JournalConflict(`the deposit ${row.deposit} is taken`);
  }
  if (limits) throw new NotFunded(await readSums(writing, me));
  throw new JournalConflict(`execution ${id} is taken`);
}

/** Creates the functions that begin a row of one journal. */
export function createClaims(writing: Writing) {
  const { owner } = writing;
  function claim(row: ClaimedExecution | ClaimedDeposit, nowMs: number, funding: Funding): Promise<JournalRow> {
    const { ways, lending, funds } = funding;
    const first = { state: 'accepted' as const, created_ms: BigInt(nowMs), rebuilds: 0n, lease_owner: owner };
    return take(writing, { ...row, ...first }, { ways, limits: limitsOf(lending, true), funds });
  }
  return {
    /**
     * Takes the id before anything else happens, and returns its row with the way to pay. A call that repeats a void
     * one replaces it. Throws JournalConflict if the id or the Idempotency-Key is taken. Throws NotFunded if the wallet has too
     * many opens in flight, its money is reserved, or no way to pay fits the limits.
     */
    claim: (row: ClaimedExecution, nowMs: number, funding: Funding) => claim(row, nowMs, funding),
    /** Like `claim`, for a call paid by a deposit. No other call may use that deposit. */
    claimDeposit: (row: ClaimedDeposit, nowMs: number, funding: Funding) => claim(row, nowMs, funding),
    /** Takes a funded record that its wallet opened itself, to run it here. Throws like `claim`. */
    async claimOpened(row: ClaimedExecution, record: OpenedRecord, nowMs: number, funding: Funding): Promise<void> {
      const funded = {
        state: 'open_confirmed' as const,
        created_ms: BigInt(nowMs),
        opened_at: record.openedAt,
        refund_at: record.refundAt,
        rebuilds: 0n,
        lease_owner: owner,
      };
      const { ways, lending, funds } = funding;
      await take(writing, { ...row, ...funded }, { ways, limits: limitsOf(lending, false), funds });
    },
    /**
     * Adopts an open record whose row is lost or void; it waits for its refund. `way` is the gas that the record holds,
     * and the rent that the operator lent. Returns false, and changes nothing, if another row has the id.
     */
    async adopt(row: ClaimedExecution, record: OpenedRecord, nowMs: number, way: Way = NOTHING): Promise<boolean> {
      const parked = {
        state: 'parked' as const,
        created_ms: BigInt(nowMs),
        opened_at: record.openedAt,
        refund_at: record.refundAt,
        error_message:
          'The marketplace lost its record of this call before it could be served. To make the call again, send a new Idempotency-Key.',
        rebuilds: 0n,
        lease_owner: null,
      };
      try {
        await take(writing, { ...row, ...parked }, { ways: [way], limits: null, funds: null });
        return true;
      } catch (error) {
        if (error instanceof JournalConflict) return false;
        throw error;
      }
    },
    /** The sums that limit a call of a wallet to a listing, now. */
    sumsOf: (wallet: string, listing: string, nowMs: number): Promise<Sums> =>
      readSums(writing, { id: '', wallet, listing, keyId: '', slot: NO_SLOT, nowMs: BigInt(nowMs) }),
    /** The reserved part of the money that accounts of this slot show for a wallet and one of its keys. */
    heldOf: (wallet: string, keyId: string, slot: bigint): Promise<Held> => readHeld(writing, wallet, keyId, slot),
  };
}

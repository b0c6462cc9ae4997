/**
 * What the operator has out and has lost, added up over the rows themselves by the statement that claims the next: rent
 * lent, fees burnt, calls on the house, opens in flight. Nothing of it is kept in memory, so that several relays on one
 * ledger share it and a crash forgets none.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LedgerDatabase } from './tables.ts';
import type { Writing } from './writing.ts';

/** Lamports for one wallet, for one listing, and in all. */
export interface Budget {
  wallet: bigint;
  listing: bigint;
  total: bigint;
}

/** What the operator gives at most. */
export interface Budgets {
  /** The operator pays whatever a wallet's tank does not, and lends all rent; what is burnt stays limited. */
  sponsorsAll: boolean;
  /** Rent that is out at once. */
  lent: Budget;
  /** Network fees within 24 hours that nobody has paid for. */
  burnt: Budget;
  /** Calls of one wallet on the house, ever, and what all of them may cost within 24 hours. */
  trial: { calls: number; lamportsPerDay: bigint };
  /** Executions that one wallet may have open; 0 for any number. */
  openExecutions: number;
}

/** One way to pay for a call, lamports: the first that the budgets allow is taken. */
export interface Way {
  /** Parked in the record. */
  gas: bigint;
  /** Given by the operator for fees; 0 where gas pays them. */
  house: bigint;
  /** Rent that the operator lends; both 0 where the tank does, or where nothing is lent. */
  recordRent: bigint;
  escrowRent: bigint;
  /** The most that the call may burn before its refund is signed; 0 where that is not held against anybody. */
  mayBurn: bigint;
}

/** Opens in flight that a wallet begins with, and the most that it gets to. */
export const FIRST_OPENS = 4;
export const MOST_OPENS = 256;
/** One more for so many that have paid their gas. */
const PAID_FOR_ONE = 4;
/** Calls whose gas has come back since the last that failed, until a wallet counts as one that pays. */
const PROVEN_BY = 4;
const MOST_PAID = (MOST_OPENS - FIRST_OPENS) * PAID_FOR_ONE;
/** What budgets by the day look back on. */
export const DAY_MS = 24n * 60n * 60n * 1_000n;
const ANY = 2n ** 53n;

/**
 * As the partial index has it. Whoever has paid for calls is held to what is on its way to the chain, where a wallet that
 * takes back its money or a creator that turns off its account burns the fee. Of the others, whom it costs nothing to be
 * many, everything counts until it has ended.
 */
const AT_RISK = `state NOT IN ('settled', 'refunded', 'void')
  AND (may_burn_lamports > 0 OR state IN ('accepted', 'open_signed', 'verified', 'refunding'))`;
/** What such a row may burn. Once it is to be refunded: that refund, and its open where a stranger gives the gas away. */
const RISK = `sum(CASE WHEN state IN ('refunding', 'parked') THEN gas_lamports + house_lamports
  ELSE max(gas_lamports + house_lamports, may_burn_lamports) END)`;
const RENT_OUT = `sum(record_lent + CASE WHEN state IN ('settled', 'refunded') THEN 0 ELSE escrow_lent END)`;
const LAST_LOSS = `(SELECT coalesce(max(created_ms), 0) FROM executions AS e WHERE e.wallet = me.wallet AND lost_fees > 0)`;
const IS_PAID = `gas_lamports > 0 AND opened_at IS NOT NULL AND nonce <> ''`;

/** Who asks: for `claim` (or alone, for `readStandingOf`), one row `me` with id, wallet, listing and since_ms. */
export const meRow = (id: string, wallet: string, listing: string, nowMs: bigint) =>
  sql`me AS MATERIALIZED (SELECT ${id} AS id, ${wallet} AS wallet, ${listing} AS listing, ${nowMs - DAY_MS} AS since_ms)`;
/** Its values, in the order of that text. */
export const meValues = (id: string, wallet: string, listing: string, nowMs: bigint) => [
  id,
  wallet,
  listing,
  nowMs - DAY_MS,
];

const one = (what: string, where: string) => `(SELECT coalesce(${what}, 0) FROM executions AS e WHERE ${where})`;

/** One row `sums` about `me`. Each sum reads an index that holds nothing else. */
export const SUMS = sql.raw(`sums AS MATERIALIZED (SELECT
  ${one('count(*)', `e.wallet = me.wallet AND ${AT_RISK} AND state IN ('accepted', 'open_signed')`)} AS in_flight,
  (SELECT count(*) FROM (SELECT 1 FROM executions AS e WHERE e.wallet = me.wallet AND ${IS_PAID}
    AND created_ms > ${LAST_LOSS} LIMIT ${MOST_PAID})) AS paid,
  (SELECT count(*) FROM (SELECT 1 FROM executions AS e WHERE e.wallet = me.wallet AND ${IS_PAID}
    AND state IN ('settled', 'refunded') AND created_ms > ${LAST_LOSS} LIMIT ${PROVEN_BY})) = ${PROVEN_BY} AS is_proven,
  ${one('count(*)', `e.wallet = me.wallet AND state NOT IN ('settled', 'refunded', 'void')`)} AS open_now,
  ${one('sum(lost_fees)', 'e.wallet = me.wallet AND lost_fees > 0 AND created_ms > since_ms')} AS burnt_wallet,
  ${one('sum(lost_fees)', 'e.listing = me.listing AND lost_fees > 0 AND created_ms > since_ms')} AS burnt_listing,
  ${one('sum(lost_fees)', 'lost_fees > 0 AND created_ms > since_ms')} AS burnt_total,
  ${one(RISK, `e.wallet = me.wallet AND ${AT_RISK}`)} AS risk_wallet,
  ${one(RISK, `e.listing = me.listing AND ${AT_RISK}`)} AS risk_listing,
  ${one(RISK, AT_RISK)} AS risk_total,
  ${one(RENT_OUT, `e.wallet = me.wallet AND record_lent > 0 AND state <> 'void'`)} AS lent_wallet,
  ${one(RENT_OUT, `e.listing = me.listing AND record_lent > 0 AND state <> 'void'`)} AS lent_listing,
  ${one(RENT_OUT, `record_lent > 0 AND state <> 'void'`)} AS lent_total,
  ${one('sum(trials)', 'e.wallet = me.wallet AND trials > 0')} AS trials,
  ${one('sum(given_lamports)', 'given_lamports > 0 AND created_ms > since_ms')} AS given
  FROM me)`);

/** What those sums say of a wallet and a listing, lamports but for the counts. */
export interface Sums {
  in_flight: bigint;
  paid: bigint;
  /** 1 where the wallet has paid for calls to their end. */
  is_proven: bigint;
  open_now: bigint;
  burnt_wallet: bigint;
  burnt_listing: bigint;
  burnt_total: bigint;
  risk_wallet: bigint;
  risk_listing: bigint;
  risk_total: bigint;
  lent_wallet: bigint;
  lent_listing: bigint;
  lent_total: bigint;
}

/** How many opens of a wallet may be in flight that has paid for so many since the last that failed. */
export function opensAllowed(paid: bigint): bigint {
  return BigInt(FIRST_OPENS) + paid / BigInt(PAID_FOR_ONE);
}

/**
 * Of what an agent's calls and all calls may burn, half is kept for wallets that have paid for some calls since the last
 * that failed: else strangers, who cost nothing, could use it up and turn everybody away.
 */
export function burnableBy({ burnt }: Pick<Budgets, 'burnt'>, isProven: boolean): Budget {
  if (isProven) return burnt;
  return { wallet: burnt.wallet, listing: burnt.listing / 2n, total: burnt.total / 2n };
}

/** What a claim is held against, as its statement takes it. */
export function limitsOf(budgets: Budgets, isOpen: boolean) {
  const { burnt, lent, trial, sponsorsAll } = budgets;
  const unbounded = (amount: bigint) => (sponsorsAll ? ANY : amount);
  return {
    isOpen: isOpen && !sponsorsAll ? 1n : 0n,
    openLimit: budgets.openExecutions > 0 ? BigInt(budgets.openExecutions) : ANY,
    burntWallet: burnt.wallet,
    burntListing: burnt.listing,
    burntTotal: burnt.total,
    lentWallet: unbounded(lent.wallet),
    lentListing: unbounded(lent.listing),
    lentTotal: unbounded(lent.total),
    trialCalls: unbounded(BigInt(trial.calls)),
    trialLamports: unbounded(trial.lamportsPerDay),
  };
}

export type Limits = ReturnType<typeof limitsOf>;

/** As `burnableBy` has it. */
const SHARE = sql.raw('(CASE WHEN is_proven THEN 1 ELSE 2 END)');
/** What the call adds to what is at risk. */
const ADDED = sql.raw('(CASE WHEN is_proven THEN gas + house ELSE max(gas + house, may_burn) END)');

/** Whether `way` of `ways` fits `sums`: the values of `limits` in the order of its fields. */
export function fits(limits: Limits): RawBuilder<boolean> {
  const l = limits;
  return sql<boolean>`
    (${l.isOpen} = 0 OR in_flight < ${sql.raw(String(FIRST_OPENS))} + paid / ${sql.raw(String(PAID_FOR_ONE))})
    AND open_now < ${l.openLimit}
    AND burnt_wallet + risk_wallet + ${ADDED} <= ${l.burntWallet}
    AND burnt_listing + risk_listing + ${ADDED} <= ${l.burntListing} / ${SHARE}
    AND burnt_total + risk_total + ${ADDED} <= ${l.burntTotal} / ${SHARE}
    AND (record_rent = 0 OR (lent_wallet + record_rent + escrow_rent <= ${l.lentWallet}
      AND lent_listing + record_rent + escrow_rent <= ${l.lentListing}
      AND lent_total + record_rent + escrow_rent <= ${l.lentTotal}))
    AND (house = 0 OR (trials < ${l.trialCalls} AND given + house <= ${l.trialLamports}))`;
}

/** The ways as rows, the best first. */
export const WAYS_SOURCE = `(SELECT key AS rank, value ->> 'gas' AS gas, value ->> 'house' AS house,
  value ->> 'recordRent' AS record_rent, value ->> 'escrowRent' AS escrow_rent,
  value ->> 'mayBurn' AS may_burn FROM json_each(`;

/** As that source reads them. */
export function waysJson(ways: readonly Way[]): string {
  return JSON.stringify(ways, (_key, value) => (typeof value === 'bigint' ? Number(value) : value));
}

/** The sums about a wallet and a listing, as of now. */
export async function readSums(
  writing: Pick<Writing, 'db' | 'compile'>,
  wallet: string,
  listing: string,
  nowMs: bigint,
) {
  const { db, compile } = writing;
  const query = compile<Sums>('sums', meValues('', wallet, listing, nowMs), () => ({
    compile: () => sql<Sums>`WITH ${meRow('', wallet, listing, nowMs)}, ${SUMS} SELECT * FROM sums`.compile(db),
  }));
  return (await db.executeQuery(query)).rows[0]!;
}

/** Rent that is out in all, lamports. */
export async function readLent(views: Kysely<LedgerDatabase>): Promise<bigint> {
  const text = `SELECT coalesce(${RENT_OUT}, 0) AS lent FROM executions WHERE record_lent > 0 AND state <> 'void'`;
  const { rows } = await sql<{ lent: bigint }>`${sql.raw(text)}`.execute(views);
  return rows[0]!.lent;
}

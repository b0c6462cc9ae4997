/**
 * What a call is held against, added up by the statement that claims its row: what the operator has out and has lost
 * (rent lent, fees burnt, calls on the house, opens in flight), and what is promised already of the money that the
 * wallet's accounts show. Nothing of it is kept in memory, so that several relays on one ledger share it and a crash
 * forgets none.
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
  /** What its open takes out of the wallet's tank. */
  tank: bigint;
  /** The most that the call may burn before its refund is signed; 0 where that is not held against anybody. */
  mayBurn: bigint;
}

/** What the wallet's accounts show at one moment for a call: USDC in base units, the tank in lamports. */
export interface Purse {
  /** Of that moment: what landed later is not in it, and is held against it. */
  slot: bigint;
  keyId: string;
  price: bigint;
  /** What the wallet can pay, and what its key may spend. */
  wallet: bigint;
  key: bigint;
  tank: bigint;
  /** What a tank keeps, unless it is left empty. */
  tankRest: bigint;
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
  WHEN may_burn_lamports > gas_lamports + house_lamports THEN may_burn_lamports
  ELSE gas_lamports + house_lamports END)`;
const LAST_LOSS = `(SELECT coalesce(max(created_ms), 0) FROM executions AS e WHERE e.wallet = me.wallet AND lost_fees > 0)`;
const IS_PAID = `gas_lamports > 0 AND opened_at IS NOT NULL AND nonce <> ''`;

/** Whom sums are about. `slot`: of the accounts that they will be held against. */
export interface Asking {
  id: string;
  wallet: string;
  listing: string;
  keyId: string;
  slot: bigint;
  nowMs: bigint;
}

/** One row `me` of who asks. */
export const meRow = (me: Asking) => sql`me AS MATERIALIZED (SELECT CAST(${me.id} AS TEXT) AS id,
  CAST(${me.wallet} AS TEXT) AS wallet, CAST(${me.listing} AS TEXT) AS listing, CAST(${me.keyId} AS TEXT) AS key_id,
  CAST(${me.slot} AS BIGINT) AS slot, CAST(${me.nowMs - DAY_MS} AS BIGINT) AS since_ms)`;
/** Its values, in the order of that text. */
export const meValues = ({ id, wallet, listing, keyId, slot, nowMs }: Asking) => [
  id,
  wallet,
  listing,
  keyId,
  slot,
  nowMs - DAY_MS,
];

const one = (what: string, where: string) => `(SELECT coalesce(${what}, 0) FROM executions AS e WHERE ${where})`;

const lentOf = (scope: string, name: string) =>
  `(SELECT coalesce(sum(lamports), 0) FROM lent_sums AS l WHERE l.scope = '${scope}' AND l.name = ${name})`;
/** What rows of the wallet have taken, or will have: its USDC, that of the key that asks, and lamports of its tank. */
const taken = (which = '') => `coalesce(sum(e.price)${which}, 0) AS by_wallet,
  coalesce(sum(CASE WHEN e.key_id = me.key_id THEN e.price ELSE 0 END)${which}, 0) AS by_key,
  coalesce(sum(e.tank_lamports)${which}, 0) AS by_tank`;

/**
 * Accounts as of a slot may still show what opens without a known fate take, and do show what those have taken that landed
 * later; a row is proven final long after anybody counts on such accounts. Where the chain has refused an open since, they
 * show what is no longer so, and nothing is opened by them: each of those who wait would burn a fee. SQLite keeps
 * the order of a CROSS JOIN: left to itself it looks through the rows of all wallets.
 */
const TAKEN_BY_OTHERS = `opening AS MATERIALIZED (SELECT ${taken()}, count(e.wallet) AS in_flight
  FROM me CROSS JOIN executions AS e WHERE e.wallet = me.wallet AND e.state IN ('accepted', 'open_signed')),
landed AS MATERIALIZED (SELECT ${taken(" FILTER (WHERE e.state <> 'void')")},
  coalesce(max(e.opened_slot), 0) AS newest_slot, count(*) FILTER (WHERE e.state = 'void') AS failed
  FROM me CROSS JOIN executions AS e WHERE e.wallet = me.wallet AND e.opened_slot > me.slot AND e.is_final = 0
    AND e.state NOT IN ('accepted', 'open_signed'))`;
const HELD = `opening.by_wallet + landed.by_wallet AS held_wallet,
  opening.by_key + landed.by_key AS held_key,
  opening.by_tank + landed.by_tank AS held_tank,
  landed.newest_slot AS newest_slot,
  landed.failed AS failed_since`;

const PAID = `(SELECT count(*) FROM (SELECT 1 FROM executions AS e WHERE e.wallet = me.wallet AND ${IS_PAID}
    AND created_ms > ${LAST_LOSS} LIMIT ${MOST_PAID}) AS paying)`;

/** One row `sums` about `me`. Each sum reads an index that holds nothing else. */
const sumsWith = (paid: string) =>
  sql.raw(`${TAKEN_BY_OTHERS},
sums AS MATERIALIZED (SELECT
  opening.in_flight AS in_flight,
  ${paid} AS paid,
  CASE WHEN (SELECT count(*) FROM (SELECT 1 FROM executions AS e WHERE e.wallet = me.wallet AND ${IS_PAID}
    AND state IN ('settled', 'refunded') AND created_ms > ${LAST_LOSS} LIMIT ${PROVEN_BY}) AS ended) = ${PROVEN_BY}
    THEN 1 ELSE 0 END AS is_proven,
  ${one('count(*)', `e.wallet = me.wallet AND state NOT IN ('settled', 'refunded', 'void')`)} AS open_now,
  ${one('sum(lost_fees)', 'e.wallet = me.wallet AND lost_fees > 0 AND created_ms > since_ms')} AS burnt_wallet,
  ${one('sum(lost_fees)', 'e.listing = me.listing AND lost_fees > 0 AND created_ms > since_ms')} AS burnt_listing,
  ${one('sum(lost_fees)', 'lost_fees > 0 AND created_ms > since_ms')} AS burnt_total,
  ${one(RISK, `e.wallet = me.wallet AND ${AT_RISK}`)} AS risk_wallet,
  ${one(RISK, `e.listing = me.listing AND ${AT_RISK}`)} AS risk_listing,
  ${one(RISK, AT_RISK)} AS risk_total,
  ${lentOf('wallet', 'me.wallet')} AS lent_wallet,
  ${lentOf('listing', 'me.listing')} AS lent_listing,
  ${lentOf('total', "''")} AS lent_total,
  ${one('sum(trials)', 'e.wallet = me.wallet AND trials > 0')} AS trials,
  ${one('sum(given_lamports)', 'given_lamports > 0 AND created_ms > since_ms')} AS given,
  ${HELD}
  FROM me, opening, landed)`);

const SUMS = sumsWith(PAID);
/** For a claim, to which it is all the same how often a wallet has paid that has as little in flight as a new one may. */
export const CLAIM_SUMS = sumsWith(`CASE WHEN opening.in_flight < ${FIRST_OPENS} THEN 0 ELSE ${PAID} END`);

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
  /** Calls of the wallet on the house, ever, and what all of them have cost within a day. */
  trials: bigint;
  given: bigint;
}

/** What is promised of the money that accounts of a slot show: base units, and lamports of the tank. */
export interface Held {
  held_wallet: bigint;
  held_key: bigint;
  held_tank: bigint;
  /** The latest slot in which one landed, or was refused, that these accounts do not show; 0 where there is none. */
  newest_slot: bigint;
  /** Opens that the chain has refused since then. */
  failed_since: bigint;
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
const SHARE = sql.raw('(CASE WHEN is_proven = 1 THEN 1 ELSE 2 END)');
/** What the call adds to what is at risk. */
const ADDED = sql.raw('(CASE WHEN is_proven = 0 AND may_burn > gas + house THEN may_burn ELSE gas + house END)');

const at = (value: bigint) => sql`CAST(${value} AS BIGINT)`;

/** Whether `way` of `ways` fits `sums`: the values of `limits` in the order of its fields. */
export function fits(limits: Limits): RawBuilder<boolean> {
  const l = limits;
  return sql<boolean>`
    (${at(l.isOpen)} = 0 OR in_flight < ${sql.raw(String(FIRST_OPENS))} + paid / ${sql.raw(String(PAID_FOR_ONE))})
    AND open_now < ${at(l.openLimit)}
    AND burnt_wallet + risk_wallet + ${ADDED} <= ${at(l.burntWallet)}
    AND burnt_listing + risk_listing + ${ADDED} <= ${at(l.burntListing)} / ${SHARE}
    AND burnt_total + risk_total + ${ADDED} <= ${at(l.burntTotal)} / ${SHARE}
    AND (record_rent = 0 OR (lent_wallet + record_rent + escrow_rent <= ${at(l.lentWallet)}
      AND lent_listing + record_rent + escrow_rent <= ${at(l.lentListing)}
      AND lent_total + record_rent + escrow_rent <= ${at(l.lentTotal)}))
    AND (house = 0 OR (trials < ${at(l.trialCalls)} AND given + house <= ${at(l.trialLamports)}))`;
}

/** Whether the purse has what the price and `way` take, beside all that is promised: `purseValues` in this order. */
export function purseHas({ price, wallet, key, tank, tankRest }: Purse): RawBuilder<boolean> {
  return sql<boolean>`
    failed_since = 0 AND held_wallet + ${at(price)} <= ${at(wallet)} AND held_key + ${at(price)} <= ${at(key)}
    AND (tank = 0 OR ${at(tank)} - held_tank - tank >= ${at(tankRest)}
      OR (held_tank = 0 AND ${at(tank)} = tank))`;
}

export const purseValues = ({ price, wallet, key, tank, tankRest }: Purse) => [
  price,
  wallet,
  price,
  key,
  tank,
  tankRest,
  tank,
];

const WAY_FIELDS = ['gas', 'house', 'recordRent', 'escrowRent', 'tank', 'mayBurn'] as const;

/** The ways as rows, the best first; there is at least one. `waysValues` in this order. */
export function waysRows(ways: readonly Way[]) {
  const rows = ways.map(
    (way, rank) => sql`SELECT ${sql.raw(String(rank))} AS rank, ${at(way.gas)} AS gas, ${at(way.house)} AS house,
      ${at(way.recordRent)} AS record_rent, ${at(way.escrowRent)} AS escrow_rent, ${at(way.tank)} AS tank,
      ${at(way.mayBurn)} AS may_burn`,
  );
  return sql`(${sql.join(rows, sql.raw(' UNION ALL '))}) AS way`;
}

export const waysValues = (ways: readonly Way[]) => ways.flatMap((way) => WAY_FIELDS.map((field) => way[field]));

/** The sums about a wallet and a listing as of now, and what is held against accounts of this slot. */
export async function readSums(writing: Pick<Writing, 'db' | 'compile'>, me: Asking): Promise<Sums & Held> {
  const { db, compile } = writing;
  const query = compile<Sums & Held>('sums', meValues(me), () => ({
    compile: () => sql<Sums & Held>`WITH ${meRow(me)}, ${SUMS} SELECT * FROM sums`.compile(db),
  }));
  return (await db.executeQuery(query)).rows[0]!;
}

/** What is promised of the money that accounts of this slot show. */
export async function readHeld(
  { db, compile }: Pick<Writing, 'db' | 'compile'>,
  wallet: string,
  keyId: string,
  slot: bigint,
): Promise<Held> {
  const me = { id: '', wallet, listing: '', keyId, slot, nowMs: DAY_MS };
  const query = compile<Held>('held', meValues(me), () => ({
    compile: () =>
      sql<Held>`WITH ${meRow(me)}, ${sql.raw(TAKEN_BY_OTHERS)} SELECT ${sql.raw(HELD)} FROM opening, landed`.compile(
        db,
      ),
  }));
  return (await db.executeQuery(query)).rows[0]!;
}

/** Rent that is out in all, lamports. */
export async function readLent(views: Kysely<LedgerDatabase>): Promise<bigint> {
  const lent = sql.raw(`SELECT ${lentOf('total', "''")} AS lent`);
  const { rows } = await sql<{ lent: bigint }>`${lent}`.execute(views);
  return rows[0]!.lent;
}

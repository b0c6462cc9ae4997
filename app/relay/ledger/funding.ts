/**
 * Adds up the sums that limit a call, in the statement that claims its row. They are the operator's loans and losses
 * (rent, fees, free calls, opens in flight) and the reservations on the wallet's money. Nothing is kept in memory, so
 * several relays share the sums, and a crash loses none of them.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Named } from '../../database/prepared.ts';
import type { LedgerDatabase } from './tables.ts';
import { compilable, type Writing } from './writing.ts';

/** A budget that is never reached. */
export const UNLIMITED = 2n ** 52n;

/** Limits in lamports for one wallet, for one listing, and in total. */
export interface Budget {
  wallet: bigint;
  listing: bigint;
  total: bigint;
}

/** The operator's limits. */
export interface Budgets {
  /** The operator pays the part that a wallet's gas balance does not, and lends all rent. Burnt fees stay limited. */
  sponsorsAll: boolean;
  /** Rent lent at the same time. */
  lent: Budget;
  /**
   * Rent lent to refunds and deposits that wait for their caller's account, not counted in `lent`. Beyond it only proven
   * wallets are lent rent.
   */
  waiting: bigint;
  /** Unpaid network fees within 24 hours. */
  burnt: Budget;
  /** Free calls of one wallet in its lifetime, and the cost of all free calls within 24 hours. */
  trial: { calls: number; lamportsPerDay: bigint };
  /** Maximum open executions of one wallet; 0 for any number. */
  openExecutions: number;
}

/** One way to pay for a call, lamports. The first way that the budgets allow is taken. */
export interface Way {
  /** Stored in the record. */
  gas: bigint;
  /** Given by the operator for fees; 0 if gas pays them. */
  house: bigint;
  /** Rent that the operator lends; both 0 if the gas balance lends it, or if none is lent. */
  recordRent: bigint;
  escrowRent: bigint;
  /** Taken out of the wallet's gas balance by the open. */
  tank: bigint;
  /** The most that the call may burn before its refund is signed; 0 if none is reserved for it. */
  mayBurn: bigint;
}

/** The money that the wallet's accounts show at one moment: USDC in base units, the gas balance in lamports. */
export interface Purse {
  /** Slot of that moment. Opens that landed later are not in it, and count as reservations. */
  slot: bigint;
  keyId: string;
  price: bigint;
  /** USDC that the wallet can pay, and that its key may spend. */
  wallet: bigint;
  key: bigint;
  tank: bigint;
  /** Lamports that a gas balance must keep, unless the open empties it. */
  tankRest: bigint;
}

/** Opens in flight that a new wallet may have, and the most that any wallet may have. */
export const FIRST_OPENS = 4;
export const MOST_OPENS = 256;
/** Calls that paid their gas, per additional open in flight. */
const PAID_FOR_ONE = 4;
/** A wallet is proven after this many calls that paid their gas and ended since its last failed one. */
const PROVEN_BY = 4;
const MOST_PAID = (MOST_OPENS - FIRST_OPENS) * PAID_FOR_ONE;
/** Period of the daily budgets. */
export const DAY_MS = 24n * 60n * 60n * 1_000n;
const ANY = 2n ** 53n;

/**
 * Must match the partial index. For a proven wallet only transactions on their way to the chain count: they burn their
 * fee if the wallet withdraws its money or the creator's account becomes unusable. Creating wallets is free, so every
 * unfinished call of an unproven wallet counts. A refund that waits for its caller's account counts for its wallet alone
 * (WAITING), until it is signed again.
 */
const AT_RISK = `state NOT IN ('settled', 'refunded', 'returned', 'void')
  AND (may_burn_lamports > 0 OR state IN ('accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed', 'paid',
    'returning', 'open_signed', 'verified', 'refunding'))
  AND is_waiting = 0`;
/** Waiting refunds: their fees are burnt if the caller sends them itself. Must match the partial index. */
const WAITING = 'is_waiting = 1 AND created_ms > since_ms';
/** Rows that wait for the caller's own account. Must match the partial index and the triggers. */
const WAITS = `refund_state = 'waiting' AND state IN ('refunding', 'returning')`;
/**
 * The lamports that such a row may burn. A row to be refunded may burn the fee of the refund. It may also burn that of
 * its open, if somebody else sends the refund and the gas returns to the wallet.
 */
const AMOUNT = `CASE WHEN state IN ('refunding', 'parked') THEN gas_lamports + house_lamports
  WHEN may_burn_lamports > gas_lamports + house_lamports THEN may_burn_lamports
  ELSE gas_lamports + house_lamports END`;
const RISK = `sum(${AMOUNT})`;
const LAST_LOSS = `(SELECT coalesce(max(lost_ms), 0) FROM executions AS e WHERE e.wallet = me.wallet AND lost_fees > 0)`;
const IS_PAID = `gas_lamports > 0 AND opened_at IS NOT NULL AND nonce <> ''`;

/** The subject of sums. `slot` is the slot of the accounts that the sums are checked against. */
export interface Asking {
  id: string;
  wallet: string;
  listing: string;
  keyId: string;
  slot: bigint;
  nowMs: bigint;
}

/** The subject as named values of a statement. */
export const meOf = ({ id, wallet, listing, keyId, slot, nowMs }: Asking) => ({
  me_id: id,
  me_wallet: wallet,
  me_listing: listing,
  me_key_id: keyId,
  me_slot: slot,
  me_since_ms: nowMs - DAY_MS,
});

/** One row `me` with the subject. */
export const meRow = (me: Named<ReturnType<typeof meOf>>) => sql`me AS MATERIALIZED (SELECT
  CAST(${me.me_id} AS TEXT) AS id, CAST(${me.me_wallet} AS TEXT) AS wallet, CAST(${me.me_listing} AS TEXT) AS listing,
  CAST(${me.me_key_id} AS TEXT) AS key_id, CAST(${me.me_slot} AS BIGINT) AS slot,
  CAST(${me.me_since_ms} AS BIGINT) AS since_ms)`;

const one = (what: string, where: string) => `(SELECT coalesce(${what}, 0) FROM executions AS e WHERE ${where})`;

/** Fees that were lost within the day. */
const LOST = 'lost_fees > 0 AND lost_ms > since_ms';
/**
 * The part of them that counts for other callers too. Otherwise one caller with a closed account could use up
 * everybody's budgets.
 */
const SHARED = 'sum(lost_fees - account_fees)';

const lentOf = (scope: string, name: string) =>
  `(SELECT coalesce(sum(lamports), 0) FROM lent_sums AS l WHERE l.scope = '${scope}' AND l.name = ${name})`;
/** Reservations of the wallet's rows: its USDC, the USDC of the key that asks, and lamports of its gas balance. */
const taken = (which = '') => `coalesce(sum(e.price + e.service_fee)${which}, 0) AS by_wallet,
  coalesce(sum(CASE WHEN e.key_id = me.key_id THEN e.price + e.service_fee ELSE 0 END)${which}, 0) AS by_key,
  coalesce(sum(e.tank_lamports)${which}, 0) AS by_tank`;

/** Rows whose money is reserved but still in the wallet's account. Must match the partial index. */
const OPENING = `(e.state IN ('accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed')
  OR (e.state = 'open_signed' AND e.deposit IS NULL))`;

/**
 * Money that the accounts of a slot still show although other opens take it: opens with an unknown fate, and opens that
 * landed later. If the chain has refused an open since that slot, no call is opened by these accounts: each waiting call would burn a fee. CROSS JOIN fixes the order
 * in SQLite, which would otherwise scan the rows of all wallets.
 */
const TAKEN_BY_OTHERS = `opening AS MATERIALIZED (SELECT ${taken()}, count(e.wallet) AS in_flight
  FROM me CROSS JOIN executions AS e WHERE e.wallet = me.wallet AND ${OPENING}),
landed AS MATERIALIZED (SELECT ${taken(" FILTER (WHERE e.state <> 'void')")},
  coalesce(max(e.opened_slot), 0) AS newest_slot, count(*) FILTER (WHERE e.state = 'void') AS failed
  FROM me CROSS JOIN executions AS e WHERE e.wallet = me.wallet AND e.opened_slot > me.slot
    AND NOT ${OPENING})`;
const HELD = `opening.by_wallet + landed.by_wallet AS held_wallet,
  opening.by_key + landed.by_key AS held_key,
  opening.by_tank + landed.by_tank AS held_tank,
  landed.newest_slot AS newest_slot,
  landed.failed AS failed_since`;

const PAID = `(SELECT count(*) FROM (SELECT 1 FROM executions AS e WHERE e.wallet = me.wallet AND ${IS_PAID}
    AND created_ms > ${LAST_LOSS} LIMIT ${MOST_PAID}) AS paying)`;

/** One row `sums` about `me`. Each sum reads a dedicated index. */
const sumsWith = (paid: string) =>
  sql.raw(`${TAKEN_BY_OTHERS},
sums AS MATERIALIZED (SELECT
  opening.in_flight AS in_flight,
  ${paid} AS paid,
  CASE WHEN (SELECT count(*) FROM (SELECT 1 FROM executions AS e WHERE e.wallet = me.wallet AND ${IS_PAID}
    AND state IN ('settled', 'refunded') AND created_ms > ${LAST_LOSS} LIMIT ${PROVEN_BY}) AS ended) = ${PROVEN_BY}
    THEN 1 ELSE 0 END AS is_proven,
  ${one('count(*)', `e.wallet = me.wallet AND state NOT IN ('settled', 'refunded', 'returned', 'void')`)} AS open_now,
  ${one('sum(lost_fees)', `e.wallet = me.wallet AND ${LOST}`)} AS burnt_wallet,
  ${one(SHARED, `e.listing = me.listing AND ${LOST}`)} AS burnt_listing,
  ${one(SHARED, LOST)} AS burnt_total,
  ${one(RISK, `e.wallet = me.wallet AND ${AT_RISK}`)}
    + ${one('sum(gas_lamports + house_lamports)', `e.wallet = me.wallet AND ${WAITING}`)} AS risk_wallet,
  ${one(RISK, `e.listing = me.listing AND ${AT_RISK}`)} AS risk_listing,
  ${one(RISK, AT_RISK)} AS risk_total,
  ${lentOf('wallet', 'me.wallet')} AS lent_wallet,
  ${lentOf('listing', 'me.listing')} AS lent_listing,
  ${lentOf('total', "''")} AS lent_total,
  ${lentOf('waiting', "''")} AS lent_waiting,
  CASE WHEN EXISTS (SELECT 1 FROM executions AS e WHERE e.wallet = me.wallet AND ${WAITS}) THEN 1 ELSE 0 END AS waits,
  ${one('sum(trials)', 'e.wallet = me.wallet AND trials > 0')} AS trials,
  ${one('sum(given_lamports)', 'given_lamports > 0 AND created_ms > since_ms')} AS given,
  ${HELD}
  FROM me, opening, landed)`);

export const SUMS = sumsWith(PAID);
/**
 * For a claim. The number of paid calls does not matter while a wallet has fewer opens in flight than a new one may.
 */
export const CLAIM_SUMS = sumsWith(`CASE WHEN opening.in_flight < ${FIRST_OPENS} THEN 0 ELSE ${PAID} END`);

const spentBy = (whose: string) => `${one('sum(lost_fees)', `${whose} ${LOST}`)} + ${one(RISK, `${whose} ${AT_RISK}`)}`;
/** One row `spent` about `me`: all fees that were lost within the day, and all amounts at risk. */
export const SPENT = sql.raw(`spent AS MATERIALIZED (SELECT ${spentBy('e.wallet = me.wallet AND')} AS by_wallet,
  ${spentBy('e.listing = me.listing AND')} AS by_listing, ${spentBy('')} AS in_total FROM me)`);

/** The sums of a wallet and a listing; lamports, except for the counts. */
export interface Sums {
  in_flight: bigint;
  paid: bigint;
  /** 1 if the wallet has paid for enough calls that ended. */
  is_proven: bigint;
  open_now: bigint;
  burnt_wallet: bigint;
  /** Without the fees that callers' own accounts cost, which count for their wallets alone. */
  burnt_listing: bigint;
  burnt_total: bigint;
  /** With the wallet's waiting refunds. */
  risk_wallet: bigint;
  risk_listing: bigint;
  risk_total: bigint;
  lent_wallet: bigint;
  lent_listing: bigint;
  lent_total: bigint;
  /** Lent to all refunds and deposits that wait for their callers' accounts, not counted in the sums above. */
  lent_waiting: bigint;
  /** 1 if the wallet has such a refund or deposit. */
  waits: bigint;
  /** Free calls of the wallet in its lifetime, and the cost of all free calls within a day. */
  trials: bigint;
  given: bigint;
}

/** Reservations on the money that accounts of a slot show: base units, and lamports of the gas balance. */
export interface Held {
  held_wallet: bigint;
  held_key: bigint;
  held_tank: bigint;
  /** The latest slot of an open that landed or was refused after the slot of these accounts; 0 if there is none. */
  newest_slot: bigint;
  /** Opens that the chain has refused since that slot. */
  failed_since: bigint;
}

/** Maximum opens in flight for a wallet with this many paid calls since its last failed one. */
export function opensAllowed(paid: bigint): bigint {
  return BigInt(FIRST_OPENS) + paid / BigInt(PAID_FOR_ONE);
}

/**
 * Half of the burnt budgets per agent and in total is reserved for proven wallets. Otherwise new wallets, which cost
 * nothing to create, could use it up and lock everybody out.
 */
export function burnableBy({ burnt }: Pick<Budgets, 'burnt'>, isProven: boolean): Budget {
  if (isProven) return burnt;
  return { wallet: burnt.wallet, listing: burnt.listing / 2n, total: burnt.total / 2n };
}

/**
 * The limits on signing a waiting refund again. It fails again each time its caller closes the account in time. It gets
 * half of what calls get, so that it never takes the place of a call.
 */
export function resentBy(budgets: Pick<Budgets, 'burnt'>, isProven: boolean): Budget {
  const { wallet, listing, total } = burnableBy(budgets, isProven);
  return { wallet, listing: listing / 2n, total: total / 2n };
}

/** A budget as named values of a statement. */
export const roomOf = ({ wallet, listing, total }: Budget) => ({
  room_wallet: wallet,
  room_listing: listing,
  room_total: total,
});

/** True if `spent` has room for the row's amount. */
export const hasRoom = (room: Named<ReturnType<typeof roomOf>>) => sql<boolean>`EXISTS (SELECT 1 FROM spent
  WHERE by_wallet + ${sql.raw(AMOUNT)} <= ${at(room.room_wallet)}
    AND by_listing + ${sql.raw(AMOUNT)} <= ${at(room.room_listing)}
    AND in_total + ${sql.raw(AMOUNT)} <= ${at(room.room_total)})`;

/** The limits of a claim, as named values of its statement. */
export function limitsOf(budgets: Budgets, isOpen: boolean, firstOpens = FIRST_OPENS) {
  const { burnt, lent, waiting, trial, sponsorsAll } = budgets;
  const unbounded = (amount: bigint) => (sponsorsAll ? ANY : amount);
  return {
    isOpen: isOpen && !sponsorsAll ? 1n : 0n,
    firstOpens: BigInt(firstOpens),
    openLimit: budgets.openExecutions > 0 ? BigInt(budgets.openExecutions) : ANY,
    burntWallet: burnt.wallet,
    burntListing: burnt.listing,
    burntTotal: burnt.total,
    lentWallet: unbounded(lent.wallet),
    lentListing: unbounded(lent.listing),
    lentTotal: unbounded(lent.total),
    waits: sponsorsAll ? 1n : 0n,
    lentWaiting: unbounded(waiting),
    trialCalls: unbounded(BigInt(trial.calls)),
    trialLamports: unbounded(trial.lamportsPerDay),
  };
}

export type Limits = ReturnType<typeof limitsOf>;

/** The same share as in `burnableBy`. */
const SHARE = sql.raw('(CASE WHEN is_proven = 1 THEN 1 ELSE 2 END)');
/** The amount that the call adds to the amount at risk. */
const ADDED = sql.raw('(CASE WHEN is_proven = 0 AND may_burn > gas + house THEN may_burn ELSE gas + house END)');

const at = (value: RawBuilder<bigint>) => sql`CAST(${value} AS BIGINT)`;

/** True if `way` of `ways` fits `sums`. */
export function fits(l: Named<Limits>): RawBuilder<boolean> {
  return sql<boolean>`
    (${at(l.isOpen)} = 0 OR in_flight < ${at(l.firstOpens)} + paid / ${sql.raw(String(PAID_FOR_ONE))})
    AND open_now < ${at(l.openLimit)}
    AND burnt_wallet + risk_wallet + ${ADDED} <= ${at(l.burntWallet)}
    AND burnt_listing + risk_listing + ${ADDED} <= ${at(l.burntListing)} / ${SHARE}
    AND burnt_total + risk_total + ${ADDED} <= ${at(l.burntTotal)} / ${SHARE}
    AND (record_rent = 0 OR (lent_wallet + record_rent + escrow_rent <= ${at(l.lentWallet)}
      AND lent_listing + record_rent + escrow_rent <= ${at(l.lentListing)}
      AND lent_total + record_rent + escrow_rent <= ${at(l.lentTotal)}
      AND waits <= ${at(l.waits)} AND (is_proven = 1 OR lent_waiting <= ${at(l.lentWaiting)})))
    AND (house = 0 OR (trials < ${at(l.trialCalls)} AND given + house <= ${at(l.trialLamports)}))`;
}

/** The wallet's money as named values of a statement. */
export const moneyOf = ({ price, wallet, key, tank, tankRest }: Purse) => ({
  money_price: price,
  money_wallet: wallet,
  money_key: key,
  money_tank: tank,
  money_tank_rest: tankRest,
});

export type Money = ReturnType<typeof moneyOf>;

/** True if the money covers the price and `way` in addition to all reservations. */
export function covers(money: Named<Money>): RawBuilder<boolean> {
  const [price, tank] = [at(money.money_price), at(money.money_tank)];
  return sql<boolean>`
    failed_since = 0 AND held_wallet + ${price} <= ${at(money.money_wallet)}
    AND held_key + ${price} <= ${at(money.money_key)}
    AND (tank = 0 OR ${tank} - held_tank - tank >= ${at(money.money_tank_rest)}
      OR (held_tank = 0 AND ${tank} = tank))`;
}

/** The columns of a way in a statement. */
const WAY_COLUMNS = {
  gas: 'gas',
  house: 'house',
  record_rent: 'recordRent',
  escrow_rent: 'escrowRent',
  tank: 'tank',
  may_burn: 'mayBurn',
} as const satisfies Record<string, keyof Way>;

/** The ways as named values of a statement. */
export const waysOf = (ways: readonly Way[]): Record<string, bigint> =>
  Object.fromEntries(
    ways.flatMap((way, rank) =>
      Object.entries(WAY_COLUMNS).map(([column, field]) => [`way_${rank}_${column}`, way[field]]),
    ),
  );

/** `count` ways as rows, best first; at least one. */
export function waysRows(count: number, ways: Named<Record<string, bigint>>) {
  const rows = Array.from({ length: count }, (_, rank) => {
    const columns = Object.keys(WAY_COLUMNS).map(
      (column) => sql`${at(ways[`way_${rank}_${column}`]!)} AS ${sql.ref(column)}`,
    );
    return sql`SELECT ${sql.lit(rank)} AS rank, ${sql.join(columns)}`;
  });
  return sql`(${sql.join(rows, sql.raw(' UNION ALL '))}) AS way`;
}

/** The sums of a wallet and a listing now, and the reservations against accounts of this slot. */
export async function readSums({ db, compile }: Pick<Writing, 'db' | 'compile'>, me: Asking): Promise<Sums & Held> {
  const query = compile('sums', meOf(me), (named) =>
    compilable(db, sql<Sums & Held>`WITH ${meRow(named)}, ${SUMS} SELECT * FROM sums`),
  );
  return (await db.executeQuery(query)).rows[0]!;
}

const HELD_BY_OTHERS = sql.raw(`${TAKEN_BY_OTHERS} SELECT ${HELD} FROM opening, landed`);

/** The reservations on the money that accounts of this slot show. */
export async function readHeld(
  { db, compile }: Pick<Writing, 'db' | 'compile'>,
  wallet: string,
  keyId: string,
  slot: bigint,
): Promise<Held> {
  const me = meOf({ id: '', wallet, listing: '', keyId, slot, nowMs: DAY_MS });
  const query = compile('held', me, (named) => compilable(db, sql<Held>`WITH ${meRow(named)}, ${HELD_BY_OTHERS}`));
  return (await db.executeQuery(query)).rows[0]!;
}

/** Lent rent in total, lamports, including that of waiting refunds. */
export async function readLent(views: Kysely<LedgerDatabase>): Promise<bigint> {
  const lent = sql.raw(`SELECT ${lentOf('total', "''")} + ${lentOf('waiting', "''")} AS lent`);
  const { rows } = await sql<{ lent: bigint }>`${lent}`.execute(views);
  return rows[0]!.lent;
}

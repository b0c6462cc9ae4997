/** The sums that limit a call, added up in the statement that claims its row. */
import { type Kysely, sql } from 'kysely';
import type { Named } from '../../database/prepared.ts';
import { DAY_MS, FIRST_OPENS_OF_LISTING, LISTING_LOSS_MS } from './funding.ts';
import type { LedgerDatabase } from './tables.ts';
import { compilable, type Writing } from './writing.ts';

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
  me_now_ms: nowMs,
});

/** One row `me` with the subject. */
export const meRow = (me: Named<ReturnType<typeof meOf>>) => sql`me AS MATERIALIZED (SELECT
  CAST(${me.me_id} AS TEXT) AS id, CAST(${me.me_wallet} AS TEXT) AS wallet, CAST(${me.me_listing} AS TEXT) AS listing,
  CAST(${me.me_key_id} AS TEXT) AS key_id, CAST(${me.me_slot} AS BIGINT) AS slot,
  CAST(${me.me_now_ms} AS BIGINT) AS now_ms)`;

/** Reservations of the wallet's rows: its USDC, the USDC of the key that asks, and lamports of its gas balance. */
const taken = (which = '') => `coalesce(sum(e.price + e.service_fee)${which}, 0) AS by_wallet,
  coalesce(sum(CASE WHEN e.key_id = me.key_id THEN e.price + e.service_fee ELSE 0 END)${which}, 0) AS by_key,
  coalesce(sum(e.gas_balance_lamports)${which}, 0) AS by_gas_balance`;

/** Rows whose money is reserved but still in the wallet's account. Must match the partial indexes. */
const OPENING = `(e.state IN ('accepted', 'deposit_signed', 'deposit_confirmed', 'pay_signed')
  OR (e.state = 'open_signed' AND e.deposit IS NULL))`;

/** Rows that will repay lost fees once their open has landed. Must match the partial index. */
const REPAYING = `e.repaid_lamports > 0 AND e.opened_at IS NULL AND e.state NOT IN ('returned', 'void')`;

/**
 * Money that the accounts of a slot still show although other opens take it: opens with an unknown outcome, and opens that
 * landed later. If the chain has refused an open since that slot, no call is opened by these accounts: each waiting call
 * would burn a fee. CROSS JOIN fixes the order in SQLite, which would otherwise scan the rows of all wallets.
 */
const TAKEN_BY_OTHERS = `opening AS MATERIALIZED (SELECT ${taken()}, count(e.wallet) AS in_flight
  FROM me CROSS JOIN executions AS e WHERE e.wallet = me.wallet AND ${OPENING}),
landed AS MATERIALIZED (SELECT ${taken(" FILTER (WHERE e.state <> 'void')")},
  coalesce(max(e.opened_slot), 0) AS newest_slot, count(*) FILTER (WHERE e.state = 'void') AS failed
  FROM me CROSS JOIN executions AS e WHERE e.wallet = me.wallet AND e.opened_slot > me.slot
    AND NOT ${OPENING})`;
const HELD = `opening.by_wallet + landed.by_wallet AS held_wallet,
  opening.by_key + landed.by_key AS held_key,
  opening.by_gas_balance + landed.by_gas_balance AS held_gas_balance,
  landed.newest_slot AS newest_slot,
  landed.failed AS failed_since`;

/** Most completed calls that are counted: for 65 opens of a wallet in flight, and 264 of a listing. */
const MOST_COMPLETED = { wallet: 256, listing: 1_024 };

const count = (whose: 'wallet' | 'listing', where: string) => `(SELECT count(*) FROM (SELECT 1 FROM executions AS e
  WHERE e.${whose} = me.${whose} AND ${where} LIMIT ${MOST_COMPLETED[whose]}) AS counted)`;
const lentTo = (kind: string) => `(SELECT coalesce(sum(lamports), 0) FROM lent_sums WHERE kind = '${kind}')`;
const ofDebt = (column: string) => `coalesce((SELECT d.${column} FROM debts AS d WHERE d.wallet = me.wallet), 0)`;
const ofLosses = (what: string) => `coalesce((SELECT ${what} FROM executions AS e WHERE e.listing = me.listing
  AND listing_fees > 0 AND lost_ms > me.now_ms - ${LISTING_LOSS_MS}), 0)`;

/**
 * One row `sums` about `me`. Each sum reads a dedicated index, whose condition on the state it repeats. Completed calls
 * are counted only where they decide: the first opens need none.
 */
export const SUMS = sql.raw(`${TAKEN_BY_OTHERS},
of_listing AS MATERIALIZED (SELECT count(e.listing) AS in_flight
  FROM me CROSS JOIN executions AS e WHERE e.listing = me.listing AND ${OPENING}),
sums AS MATERIALIZED (SELECT
  opening.in_flight AS in_flight,
  CASE WHEN opening.in_flight = 0 THEN 0 ELSE ${count(
    'wallet',
    `state IN ('settled', 'refunded')
    AND state = 'settled' AND settled_at > (me.now_ms - ${DAY_MS}) / 1000`,
  )} END AS completed,
  of_listing.in_flight AS listing_in_flight,
  CASE WHEN of_listing.in_flight < ${FIRST_OPENS_OF_LISTING} THEN 0 ELSE ${count(
    'listing',
    `state IN ('settled', 'refunding', 'refunded') AND state = 'settled'
    AND created_ms > me.now_ms - ${DAY_MS}`,
  )} END AS listing_completed,
  ${ofDebt('lamports')} AS owed,
  (SELECT count(*) FROM executions AS e WHERE e.wallet = me.wallet AND ${REPAYING}) AS repaying,
  ${ofDebt('lost_ms')} AS owed_ms,
  ${ofLosses('sum(listing_fees)')} AS listing_lost,
  ${ofLosses('min(lost_ms)')} AS listing_lost_ms,
  ${lentTo('keys')} AS lent_keys,
  ${lentTo('x402')} AS lent_x402,
  (SELECT count(*) FROM executions AS e WHERE e.wallet = me.wallet AND gas_balance_lamports > 0
    AND state IN ('open_confirmed', 'dispatched', 'verified', 'refunding', 'parked')
    AND gas_balance_lamports > fee_lamports + gas_lamports) AS gas_balance_escrows,
  me.now_ms AS now_ms,
  ${HELD}
  FROM me, opening, landed, of_listing)`);

/** The sums of a wallet and a listing; lamports, except for the counts. */
export interface Sums {
  /**
   * Opens of the wallet that are not final, and its completed calls of the last day, at most 256 (0 while no open is in
   * flight).
   */
  in_flight: bigint;
  completed: bigint;
  /** The same of the listing (0 while it has less opens than its first ones). */
  listing_in_flight: bigint;
  listing_completed: bigint;
  /** Lost fees that the wallet owes, and when it lost the last one, unix ms. */
  owed: bigint;
  owed_ms: bigint;
  /** Calls of the wallet that will repay some of it once their opens have landed, paid deposits included. */
  repaying: bigint;
  /** Fees of the last hour that count against the listing, and when the oldest of them was lost. */
  listing_lost: bigint;
  listing_lost_ms: bigint;
  lent_keys: bigint;
  lent_x402: bigint;
  /** Executions of the wallet in progress whose escrow holds rent of its gas balance. */
  gas_balance_escrows: bigint;
  /** The moment of the sums, unix ms. */
  now_ms: bigint;
}

/** Reservations on the money that accounts of a slot show: base units, and lamports of the gas balance. */
export interface Held {
  held_wallet: bigint;
  held_key: bigint;
  held_gas_balance: bigint;
  /** The latest slot of an open that landed or was refused after the slot of these accounts; 0 if there is none. */
  newest_slot: bigint;
  /** Opens that the chain has refused since that slot. */
  failed_since: bigint;
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

/** What the operator has lent, lamports. */
interface Lent {
  lent: bigint;
  /** Of records that have ended, which comes back by the clock; and the end of the oldest, unix seconds. */
  due: bigint;
  due_since: bigint | null;
  /** Of refunds and deposits that wait for their callers' accounts. */
  unclaimed: bigint;
}

export async function readLent(views: Kysely<LedgerDatabase>): Promise<Lent> {
  const { rows } = await sql<Lent>`SELECT
    (SELECT CAST(coalesce(sum(lamports), 0) AS BIGINT) FROM lent_sums) AS lent,
    (SELECT CAST(coalesce(sum(record_lent), 0) AS BIGINT) FROM executions
      WHERE record_lent > 0 AND state IN ('settled', 'refunded')) AS due,
    (SELECT min(settled_at) FROM executions WHERE record_lent > 0 AND state IN ('settled', 'refunded')) AS due_since,
    (SELECT CAST(coalesce(sum(record_lent + escrow_lent), 0) AS BIGINT) FROM executions
      WHERE refund_state = 'waiting' AND state IN ('refunding', 'returning')) AS unclaimed`.execute(views);
  return rows[0]!;
}

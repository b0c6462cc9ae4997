/**
 * The limits of a call, in the statement that claims its row: the operator's loans, the wallet's opens in flight and lost
 * fees, and the reservations on the wallet's money. sums.ts adds them up. Nothing is kept in memory, so several relays
 * share the sums, and a crash loses none of them.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Named } from '../../database/prepared.ts';
import { least } from '../../sdk/wire/amounts.ts';

/** The operator's money. */
export interface Lending {
  /** The operator pays all that the gas balances do not, and opens in flight and lost fees have no limits. */
  sponsorsAll: boolean;
  /** Rent that may be lent at once, lamports, everything counted. */
  limit(): bigint;
  /** Longest time from a record's end until its rent can be lent again, seconds. */
  returnSeconds(): number;
}

/** Those who are lent rent: calls with keys, and x402 clients. */
export type Kind = 'keys' | 'x402';

/** The key id of x402 calls: zero, as in their records. The triggers of `lent_sums` tell the kinds apart by it. */
export const NO_KEY = '0'.repeat(32);

/** One way to pay for a call, lamports. The first way that the limits allow is taken. */
export interface Way {
  /** Paid to the relay at open, out of the gas balance: the open's network fee, and `repaid`. */
  fee: bigint;
  /** Earlier losses of the wallet that this call repays. */
  repaid: bigint;
  /** Stored in the record, for its end and its archiving. */
  gas: bigint;
  /** Rent that the operator lends; 0 if the gas balance lends it. */
  recordRent: bigint;
  escrowRent: bigint;
  /** Taken out of the wallet's gas balance by the open. */
  gasBalance: bigint;
}

/** The money that the wallet's accounts show at one moment: USDC in base units, the gas balance in lamports. */
export interface Funds {
  /** Slot of that moment. Opens that landed later are not in it, and count as reservations. */
  slot: bigint;
  keyId: string;
  price: bigint;
  /** USDC that the wallet can pay, and that its key may spend. */
  wallet: bigint;
  key: bigint;
  gasBalance: bigint;
  /** Lamports that a gas balance must keep, unless the open empties it. */
  gasBalanceRest: bigint;
}

/** A wallet may have one open in flight, and one more for so many of its completed calls of the last day. */
const CALLS_FOR_ONE_OPEN = 4;
/**
 * A listing may have so many of all callers, and more by the same rule. By changing it at the right moment, its creator
 * can make all of them fail.
 */
export const FIRST_OPENS_OF_LISTING = 8;

/** While a wallet owes lost fees, it may try one open in a minute for each so many lamports that it owes. */
const TRY_MS = 60_000n;
const OWED_FOR_ONE = 5_000n;
/** Time between a wallet's last lost fee and its next try, ms. */
export const tryAfterMs = (owed: bigint): bigint => TRY_MS * (owed > OWED_FOR_ONE ? owed / OWED_FOR_ONE : 1n);
/** A listing that has cost more than this within the hour is refused until the oldest loss is an hour ago, lamports. */
export const MOST_LISTING_LOSS = 50_000n;
export const LISTING_LOSS_MS = 3_600_000n;
/** Keys and x402 clients are each lent at most three quarters of what may be lent, so that neither takes it all. */
export const shareOf = (limit: bigint): bigint => (limit * 3n) / 4n;
export const DAY_MS = 24n * 60n * 60n * 1_000n;
/** More than any amount. Every ledger stores such numbers exactly. */
export const UNLIMITED = 2n ** 52n;

/** Maximum opens in flight after so many completed calls. */
export const opensAllowed = (completed: bigint, first = 1): bigint =>
  BigInt(first) + completed / BigInt(CALLS_FOR_ONE_OPEN);

/** The limits of a claim, as named values of its statement. `isOpen`: its open is still to come. */
export function limitsOf({ sponsorsAll, limit }: Lending, isOpen: boolean) {
  const total = limit();
  return { isOpen: isOpen && !sponsorsAll ? 1n : 0n, lentTotal: total, lentShare: shareOf(total) };
}

export type Limits = ReturnType<typeof limitsOf>;

const at = (value: RawBuilder<bigint>) => sql`CAST(${value} AS BIGINT)`;

const MAY_OPEN = sql.raw(`(in_flight < 1 + completed / ${CALLS_FOR_ONE_OPEN}
  AND listing_in_flight < ${FIRST_OPENS_OF_LISTING} + listing_completed / ${CALLS_FOR_ONE_OPEN}
  AND listing_lost <= ${MOST_LISTING_LOSS}
  AND (repaid = 0 OR repaid <= owed)
  AND (owed <= 0 OR (repaid > 0 AND in_flight = 0 AND repaying = 0 AND owed_ms + ${TRY_MS}
    * CASE WHEN owed > ${OWED_FOR_ONE} THEN owed / ${OWED_FOR_ONE} ELSE 1 END <= now_ms)))`);

/** True if `way` of `ways` fits `sums`. */
export function fits(l: Named<Limits>, kind: Kind): RawBuilder<boolean> {
  const own = sql.raw(`lent_${kind}`);
  return sql<boolean>`(${at(l.isOpen)} = 0 OR ${MAY_OPEN})
    AND (record_rent + escrow_rent = 0 OR (${own} + record_rent + escrow_rent <= ${at(l.lentShare)}
      AND lent_keys + lent_x402 + record_rent + escrow_rent <= ${at(l.lentTotal)}))`;
}

/** The wallet's money as named values of a statement. A key's limit can be more than a ledger stores. */
export const moneyOf = ({ price, wallet, key, gasBalance, gasBalanceRest }: Funds) => ({
  money_price: price,
  money_wallet: least(wallet, UNLIMITED),
  money_key: least(key, UNLIMITED),
  money_gas_balance: gasBalance,
  money_gas_balance_rest: gasBalanceRest,
});

export type Money = ReturnType<typeof moneyOf>;

/** True if the money covers the price and `way` in addition to all reservations. */
export function covers(money: Named<Money>): RawBuilder<boolean> {
  const [price, gasBalance] = [at(money.money_price), at(money.money_gas_balance)];
  return sql<boolean>`
    failed_since = 0 AND held_wallet + ${price} <= ${at(money.money_wallet)}
    AND held_key + ${price} <= ${at(money.money_key)}
    AND (gas_balance = 0 OR ${gasBalance} - held_gas_balance - gas_balance >= ${at(money.money_gas_balance_rest)}
      OR (held_gas_balance = 0 AND ${gasBalance} = gas_balance))`;
}

/** The columns of a way in a statement. */
const WAY_COLUMNS = {
  fee: 'fee',
  repaid: 'repaid',
  gas: 'gas',
  record_rent: 'recordRent',
  escrow_rent: 'escrowRent',
  gas_balance: 'gasBalance',
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

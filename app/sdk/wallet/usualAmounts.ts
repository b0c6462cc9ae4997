/** Amounts that page and command line propose for a wallet's keys. Small, so that forms can show them at once. */
import { least } from '../wire/amounts.ts';
import { U64_MAX } from '../wire/decimal.ts';

/** The gas to add with a wallet's first key, lamports: enough for about 200 calls. */
export const FIRST_GAS = 4_500_000n;

/**
 * The allowance to give to keys that may still spend this much, base units. Each call takes its price from it. A refund
 * returns the price, but not the allowance: only the wallet can renew it. Twice the amount lasts as long as at least
 * half of what is paid is not refunded.
 */
export const lastingAllowance = (spendable: bigint): bigint => least(2n * spendable, U64_MAX);

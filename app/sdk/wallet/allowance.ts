/** How the allowance of a wallet's keys is used up. Small, so that forms can show it at once. */
import { least } from '../wire/amounts.ts';
import { U64_MAX } from '../wire/decimal.ts';

/**
 * The allowance to give to keys that may still spend this much, base units. Each call takes its price from it. A refund
 * returns the price, but not the allowance: only the wallet can renew it. Twice the amount lasts as long as at least
 * half of what is paid is not refunded.
 */
export const lastingAllowance = (spendable: bigint): bigint => least(2n * spendable, U64_MAX);

/** Amounts that page and command line propose for calls and keys. Small, so that forms can show them at once. */
import { least } from '../wire/amounts.ts';
import { U64_MAX } from '../wire/decimal.ts';

/** The network's fee of one signature, lamports. A wallet may add a priority fee. */
export const SIGNATURE_FEE = 5_000n;

/** Gas for the end of a call that a wallet opens itself, lamports: one signature, and as much again for priority. */
export const END_GAS = 10_000;
/** Usual network fees of such a call, lamports: the wallet's own signature, and the gas for the end. */
export const WALLET_CALL_FEES = SIGNATURE_FEE + BigInt(END_GAS);

/** The gas to add with a wallet's first key, lamports: enough for about 200 calls. */
export const FIRST_GAS = 4_500_000n;

/**
 * The allowance to give to keys that may still spend this much, base units. Each call takes its price from it. A refund
 * returns the price, but not the allowance: only the wallet can renew it. Twice the amount lasts as long as at least
 * half of what is paid is not refunded.
 */
export const lastingAllowance = (spendable: bigint): bigint => least(2n * spendable, U64_MAX);

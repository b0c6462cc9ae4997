/** The fee that an x402 client pays in addition to the price. It pays for the network fees of its call. */
import { constants } from '../../../sdk/program/program.ts';
import { greatest } from '../../../sdk/wire/amounts.ts';
import { costOf as costOfCall, type PriorityQuote } from '../../chain/fees.ts';
import { MAX_PAYMENT_FEE } from '../../execution/deposits/buying.ts';

const LAMPORTS_PER_SOL = 1_000_000_000n;
/** Base units. The fee changes in such steps, so that it seldom changes. */
const STEP = 1_000n;
/** The fee is at least this part of what a call costs. */
const COVER = { of: 3n, in: 2n };

/**
 * Lamports that a call costs the relay at these priority fees, whether it is paid or refunded: the preparation, the
 * client's payment, the open and the end. Its rent comes back.
 */
export function costOf(priority: PriorityQuote): bigint {
  const { fee, gas } = costOfCall(priority);
  return fee + MAX_PAYMENT_FEE + fee + gas;
}

interface ServiceFees {
  /** Lowest fee, base units. */
  least: bigint;
  /** Price of a SOL, base units. */
  solPrice: bigint;
}

/**
 * Base units: 1.5 times what a call costs at these priority fees, or the lowest fee if that is more. Null if the program
 * does not allow so much.
 */
export function serviceFeeAt({ least, solPrice }: ServiceFees, priority: PriorityQuote): bigint | null {
  const covering = divideUp(costOf(priority) * solPrice * COVER.of, LAMPORTS_PER_SOL * COVER.in);
  const stepped = divideUp(covering, STEP) * STEP;
  const fee = greatest(stepped, least);
  return fee > constants.maxServiceFee ? null : fee;
}

const divideUp = (amount: bigint, by: bigint): bigint => (amount + by - 1n) / by;

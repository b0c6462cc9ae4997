/** What the details of errors name: faults of a request, limits and reasons. */
import * as z from 'zod';

/** One error in a request. */
export const RequestIssue = z.strictObject({
  /** The part of the request. */
  in: z.enum(['body', 'query', 'header']),
  /** Names and indices within that part, joined by dots; empty for the whole part. */
  path: z.string(),
  expected: z.string(),
  /** The received value: a short one as JSON, the type of a longer one, or `nothing`. */
  got: z.string(),
});
export type RequestIssue = z.infer<typeof RequestIssue>;

/** The limits that can refuse a payment, in the order of their checks. */
export const SPENDING_LIMITS = ['balance', 'allowance', 'per_execution', 'period', 'total', 'gas'] as const;
export type SpendingLimit = (typeof SPENDING_LIMITS)[number];
/** The limits on the price: all but gas, which is SOL. */
export const PRICE_LIMITS = SPENDING_LIMITS.filter((limit) => limit !== 'gas') as Exclude<SpendingLimit, 'gas'>[];

/** Reasons why the payment of an x402 client was not taken. */
export const PAYMENT_REASONS = [
  'no_payment',
  'payment_invalid',
  'quote_expired',
  'quote_used',
  'quote_changed',
  'insufficient_funds',
  'payment_failed',
] as const;
export type PaymentReason = (typeof PAYMENT_REASONS)[number];

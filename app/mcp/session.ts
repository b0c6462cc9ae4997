/**
 * The money of one session: what its calls may cost together, and above which price a person must approve one. An
 * amount is taken before its call and given back only once the call is known to have cost nothing.
 */

import { parseUsdc } from '../sdk/wire/usdc.ts';
import type { Execution } from './market.ts';

export interface SessionSettings {
  /** Base units that all calls of the session may cost; null: only the key's own limits. */
  budget: bigint | null;
  /** Base units; a call above this price needs the approval of a person. */
  approveAbove: bigint;
}

export interface SignedPayment {
  /** The header PAYMENT-SIGNATURE. */
  payment: string;
  /** Base units that do not come back with a refund. */
  serviceFee: bigint;
}

export type Session = ReturnType<typeof createSession>;

export function createSession(settings: SessionSettings) {
  /** Each call that has cost something or may have, by its idempotency key: its price, and the most it may cost. */
  const taken = new Map<string, { price: bigint; most: bigint }>();
  const keyOf = new Map<string, string>();
  /** Payments of x402: a repeat sends the same one, because a second one could be taken too. */
  const signed = new Map<string, SignedPayment>();

  const spent = () => [...taken.values()].reduce((sum, { price }) => sum + price, 0n);
  /** Null without a budget. */
  const remaining = () => (settings.budget === null ? null : settings.budget - spent());
  return {
    ...settings,
    spent,
    remaining,
    /** True for a call that may have been sent already. */
    isKnown: (key: string) => taken.has(key),
    /**
     * Takes the price of a call. Returns the most that it may cost, should the price rise before it is opened: at most
     * `wanted`, what was approved and what the budget has. A repeat takes nothing and gets the same. Null if the budget
     * does not have the price.
     */
    take(key: string, price: bigint, wanted: bigint): bigint | null {
      const known = taken.get(key);
      if (known) return known.most;
      const left = remaining();
      if (left !== null && price > left) return null;
      const approved = price > settings.approveAbove ? price : settings.approveAbove;
      const most = [wanted, approved, left ?? wanted].sort((one, other) => (one < other ? -1 : 1))[0]!;
      taken.set(key, { price, most });
      return most;
    },
    /** The call certainly cost nothing. */
    giveBack(key: string): void {
      taken.delete(key);
      signed.delete(key);
    },
    paymentOf: (key: string) => signed.get(key) ?? null,
    signed: (key: string, payment: SignedPayment) => void signed.set(key, payment),
    /** What a call has cost in the end, base units. */
    cost: (key: string, price: bigint) => void taken.set(key, { price, most: taken.get(key)?.most ?? price }),
    /** The call became this execution. */
    began: (key: string, executionId: string) => void keyOf.set(executionId, key),
    /** A read shows what an execution of this session cost in the end. */
    saw({ execution_id, status, cost_usdc }: Pick<Execution, 'execution_id' | 'status' | 'cost_usdc'>): void {
      const key = keyOf.get(execution_id);
      if (key === undefined || status === 'pending' || status === 'running') return;
      if (status === 'failed') taken.delete(key);
      else taken.set(key, { price: parseUsdc(cost_usdc), most: taken.get(key)?.most ?? 0n });
    },
  };
}

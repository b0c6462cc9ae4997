/**
 * The money of one session: the budget of all its calls, and the price above which a person must approve a call. A
 * price is reserved before its call, and released only once the call is known to have cost nothing.
 */

import { parseUsdc } from '../sdk/wire/usdc.ts';
import type { Execution } from './market.ts';
import { isOpen } from './shapes.ts';

export interface SessionSettings {
  /** Maximum of all calls of the session, base units; null for the key's own limits only. */
  budget: bigint | null;
  /** Base units. A call above this price needs the approval of a person. */
  approveAbove: bigint;
}

export interface SignedPayment {
  /** The header PAYMENT-SIGNATURE. */
  payment: string;
  /** Base units that a refund does not return. */
  serviceFee: bigint;
}

export type Session = ReturnType<typeof createSession>;

export function createSession(settings: SessionSettings) {
  /** Price and maximum cost of each call that has cost something or may have, by its idempotency key. */
  const taken = new Map<string, { price: bigint; most: bigint }>();
  const keyOf = new Map<string, string>();
  /** Payments of x402. A retry sends the same one, because a second one could be taken too. */
  const signed = new Map<string, SignedPayment>();

  const spent = () => [...taken.values()].reduce((sum, { price }) => sum + price, 0n);
  /** Null without a budget. */
  const remaining = () => (settings.budget === null ? null : settings.budget - spent());
  return {
    ...settings,
    spent,
    remaining,
    /** True if a call with this key may have been sent already. */
    isKnown: (key: string) => taken.has(key),
    /**
     * Reserves the price of a call. Returns the maximum cost of the call, should the price rise before it is opened: at
     * most `wanted`, the approved amount, and the rest of the budget. A retry reserves nothing and gets the same. Null
     * if the price exceeds the budget.
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
    /** Releases the price of a call that certainly cost nothing. */
    giveBack(key: string): void {
      taken.delete(key);
      signed.delete(key);
    },
    paymentOf: (key: string) => signed.get(key) ?? null,
    signed: (key: string, payment: SignedPayment) => void signed.set(key, payment),
    /** Sets the final cost of a call, base units. */
    cost: (key: string, price: bigint) => void taken.set(key, { price, most: taken.get(key)?.most ?? price }),
    /** Links a call to its execution. */
    began: (key: string, executionId: string) => void keyOf.set(executionId, key),
    /** Sets the final cost of an execution of this session, from a read. */
    saw(execution: Pick<Execution, 'execution_id' | 'status' | 'cost_usdc'>): void {
      const key = keyOf.get(execution.execution_id);
      if (key === undefined || isOpen(execution)) return;
      if (execution.status === 'failed') taken.delete(key);
      else taken.set(key, { price: parseUsdc(execution.cost_usdc), most: taken.get(key)?.most ?? 0n });
    },
  };
}

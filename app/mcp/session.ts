/**
 * The money of one session: the budget of all its calls, and the price above which a person must approve a call. The
 * maximum cost of a call is reserved before it, until its cost is known.
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

interface Reservation {
  /** The cost of the call, base units; the most that it can cost until that is known. */
  cost: bigint;
  /** Maximum cost, base units. */
  most: bigint;
  /** Number of requests with this key that have cost something or may have. */
  requests: number;
}

export type Session = ReturnType<typeof createSession>;

export function createSession(settings: SessionSettings) {
  /** By idempotency key. */
  const taken = new Map<string, Reservation>();
  const keyOf = new Map<string, string>();
  /** Payments of x402. A retry sends the same one, because a second one could be taken too. */
  const signed = new Map<string, Promise<SignedPayment>>();

  const spent = () => [...taken.values()].reduce((sum, { cost }) => sum + cost, 0n);
  /** Null without a budget. */
  const remaining = () => (settings.budget === null ? null : settings.budget - spent());
  const setCost = (key: string, cost: bigint) =>
    void taken.set(key, { ...(taken.get(key) ?? { most: cost, requests: 1 }), cost });
  return {
    ...settings,
    spent,
    remaining,
    /** True if a call with this key may have cost something. */
    isKnown: (key: string) => taken.has(key),
    /**
     * Reserves and returns the maximum cost of a call, should its price rise before it is opened: at most `wanted`, the
     * approved amount, and the rest of the budget. A retry reserves nothing and gets the same. Null if the price exceeds
     * the budget.
     */
    take(key: string, price: bigint, wanted: bigint): bigint | null {
      const known = taken.get(key);
      if (known) {
        known.requests += 1;
        return known.most;
      }
      const left = remaining();
      if (left !== null && price > left) return null;
      const approved = price > settings.approveAbove ? price : settings.approveAbove;
      const most = [wanted, approved, left ?? wanted].sort((one, other) => (one < other ? -1 : 1))[0]!;
      taken.set(key, { cost: most, most, requests: 1 });
      return most;
    },
    /** For a request that certainly cost nothing. Releases the money unless another request with the key may cost it. */
    giveBack(key: string): void {
      const known = taken.get(key);
      if (!known) return;
      known.requests -= 1;
      if (known.requests === 0) taken.delete(key);
    },
    /** Null if no payment was signed for this key. */
    paymentOf: (key: string): Promise<SignedPayment> | null => signed.get(key) ?? null,
    /** Signs one payment for each key: parallel calls get the same one. A failed signing can be retried. */
    sign(key: string, pay: () => Promise<SignedPayment>): Promise<SignedPayment> {
      const known = signed.get(key);
      if (known) return known;
      const payment = pay();
      signed.set(key, payment);
      payment.catch(() => signed.delete(key));
      return payment;
    },
    /** Sets the final cost of a call, base units. */
    cost: setCost,
    /** Links a call to its execution. */
    began: (key: string, executionId: string) => void keyOf.set(executionId, key),
    /** Sets the cost of an execution of this session, from a read. */
    saw(execution: Pick<Execution, 'execution_id' | 'status' | 'cost_usdc'>): void {
      const key = keyOf.get(execution.execution_id);
      if (key === undefined) return;
      const cost = parseUsdc(execution.cost_usdc);
      if (execution.status === 'failed') taken.delete(key);
      // Before its price is in escrow, an open execution shows 0.
      else if (cost > 0n || !isOpen(execution)) setCost(key, cost);
    },
  };
}

/**
 * Limits the payments of one network that cost the operator fees and then do not arrive. A limit per wallet is useless,
 * because wallets are free. Wallets that have paid are counted apart: strangers at their address do not stop them. Each
 * relay counts its own.
 */
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { type ApiError, retryLater } from '../../errors.ts';

/** An unpaid deposit costs the operator three fees, some 20,000 lamports. */
const MOST_UNPAID = 10;
const WITHIN_SECONDS = 600;
/** Retry delay while payments are on their way: about the time in which one arrives. */
const RETRY_SECONDS = 5;

/** Runs one payment. `follow` gets the promise that tells if it stays unpaid, once it may cost the operator a fee. */
type Pay<Value> = (follow: (isUnpaid: Promise<boolean>) => void) => Promise<Value>;

export type UnpaidLimit = ReturnType<typeof createUnpaidLimit>;

export function createUnpaidLimit() {
  const counter = new RateLimiterMemory({ points: MOST_UNPAID, duration: WITHIN_SECONDS });
  /** Payments of new wallets on their way, by network. */
  const underWay = new Map<string, number>();

  function add(network: string, payments: number): void {
    const count = (underWay.get(network) ?? 0) + payments;
    if (count === 0) underWay.delete(network);
    else underWay.set(network, count);
  }

  return {
    /**
     * Runs one payment of a network. Throws ApiError 503 if too many did not arrive. For a wallet that has never paid for
     * a call, those on their way count too. The operator's limits for each wallet cover the others.
     */
    async limit<Value>(network: string, hasPaid: boolean, pay: Pay<Value>): Promise<Value> {
      const name = hasPaid ? `paid ${network}` : network;
      const failed = await counter.get(name);
      const left = failed?.remainingPoints ?? MOST_UNPAID;
      if (failed && left <= 0) throw tooMany('did not arrive', failed.msBeforeNext / 1_000);
      // From here to `add` nothing waits, so payments that come together cannot all pass.
      if (!hasPaid && (underWay.get(network) ?? 0) >= left) {
        throw tooMany('did not arrive or are on their way', RETRY_SECONDS);
      }
      const payments = hasPaid ? 0 : 1;
      add(network, payments);
      const end = async (isUnpaid: boolean) => {
        if (isUnpaid) await counter.consume(name).catch(() => undefined);
        add(network, -payments);
      };
      let isFollowed = false;
      try {
        return await pay((isUnpaid) => {
          isFollowed = true;
          // If the ledger cannot tell, it counts as paid.
          isUnpaid.catch(() => false).then(end);
        });
      } finally {
        if (!isFollowed) await end(false);
      }
    },
  };
}

const tooMany = (what: string, afterSeconds: number): ApiError =>
  retryLater(`${MOST_UNPAID} payments from this IP address ${what}. Nothing was paid.`, afterSeconds);

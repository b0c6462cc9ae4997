/**
 * Calls that wait for money which earlier calls reserve. The reservations are in the ledger, which several relays
 * share. This module only knows which call waits for what. Calls of one wallet therefore query together, as soon as one
 * of them is decided.
 */
import type { Funds } from '../../ledger/funding.ts';
import type { Journal } from '../../ledger/journal.ts';
import type { Held } from '../../ledger/sums.ts';
import type { Payer, PayerAccounts } from './payer.ts';

/** Poll interval while no event arrives: another relay's opens may have landed. */
const POLL_MS = 250;

/** The reading that all waiting calls share. `held` grows with each call that goes on, before the ledger records it. */
interface Learnt {
  accounts: PayerAccounts;
  held: Held;
}

export type MoneyQueue = ReturnType<typeof createMoneyQueue>;

interface Asking {
  fundsOf(accounts: PayerAccounts): Funds;
  read(): Promise<PayerAccounts>;
}

/** Creates the queue of all waiting calls of this process. */
export function createMoneyQueue(journal: Pick<Journal, 'heldOf'>) {
  const waiting = new Map<string, { calls: Set<() => void>; poll: NodeJS.Timeout }>();
  const reads = new Map<string, Promise<Learnt>>();

  /** An open of the wallet has been decided. Wakes all its calls together, so that they query once. */
  function wake(wallet: string): void {
    const present = waiting.get(wallet);
    if (!present) return;
    waiting.delete(wallet);
    clearTimeout(present.poll);
    for (const go of present.calls) go();
  }

  /** Resolves when the wallet's waiting calls are woken, or after `ms`. */
  function next(wallet: string, ms: number): Promise<void> {
    const poll = () => setTimeout(() => wake(wallet), POLL_MS).unref();
    const present = waiting.get(wallet) ?? { calls: new Set(), poll: poll() };
    waiting.set(wallet, present);
    return new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        present.calls.delete(go);
        resolve();
      };
      // A timer may fire a fraction of a millisecond early.
      const timer = setTimeout(go, ms + 1).unref();
      present.calls.add(go);
    });
  }

  async function learn({ wallet, keyId }: Payer, known: PayerAccounts, read: Asking['read']): Promise<Learnt> {
    const heldAt = (accounts: PayerAccounts) => journal.heldOf(wallet, keyId, BigInt(accounts.slot));
    const held = await heldAt(known);
    if (held.newest_slot <= BigInt(known.slot)) return { accounts: known, held };
    const accounts = await read();
    return { accounts, held: await heldAt(accounts) };
  }

  /** All calls that wait for the same money share one query. */
  function readTogether(payer: Payer, known: PayerAccounts, read: Asking['read']): Promise<Learnt> {
    const name = `${payer.wallet} ${payer.keyId}`;
    const underWay = reads.get(name) ?? learn(payer, known, read).finally(() => reads.delete(name));
    reads.set(name, underWay);
    return underWay;
  }

  return {
    /**
     * Resolves with the payer's accounts once they have the price unreserved, or with null after `ms`. `fundsOf` derives
     * the spendable money from accounts. `read` reads them again if the chain has changed since.
     */
    async whenFree(
      payer: Payer,
      accounts: PayerAccounts,
      ms: number,
      { fundsOf, read }: Asking,
    ): Promise<PayerAccounts | null> {
      const until = performance.now() + ms;
      let known = accounts;
      for (let leftMs = ms; leftMs > 0; leftMs = until - performance.now()) {
        await next(payer.wallet, leftMs);
        if (performance.now() >= until) return null;
        const learnt = await readTogether(payer, known, read);
        if (learnt.accounts.slot > known.slot) known = learnt.accounts;
        const { price, wallet, key } = fundsOf(learnt.accounts);
        const { held } = learnt;
        // The money is missing even without reservations, so waiting does not help.
        if (price > wallet || price > key) return learnt.accounts;
        if (held.held_wallet + price > wallet || held.held_key + price > key) continue;
        held.held_wallet += price;
        held.held_key += price;
        return learnt.accounts;
      }
      return null;
    },
    next,
    wake,
  };
}

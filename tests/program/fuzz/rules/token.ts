/** Questions that the program asks of a token account before it moves money there. */
import { type Address, demand, type Ledger } from '../ledger.ts';

/** Whether an account cannot receive: missing, no token account, or frozen. */
export function frozenOrGone(ledger: Ledger, account: Address): boolean {
  const { token } = ledger.get(account);
  return !token || token.frozen;
}

/** Whether an account can receive and its money would be the owner's. */
export function receivesFor(ledger: Ledger, account: Address, owner: Address): boolean {
  return !frozenOrGone(ledger, account) && ledger.get(account).token?.owner === owner;
}

/** The account exists and is the owner's, frozen or not. */
export function demandOwned(ledger: Ledger, account: Address, owner: Address, error: string): void {
  demand(ledger.get(account).token?.owner === owner, error);
}

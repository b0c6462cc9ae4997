/** Checks of a token account before the program transfers to it. */
import { type Address, demand, type Ledger } from '../ledger.ts';

/** True if the account cannot receive: missing, not a token account, or frozen. */
export function frozenOrGone(ledger: Ledger, account: Address): boolean {
  const { token } = ledger.get(account);
  return !token || token.frozen;
}

/** True if the account can receive and belongs to the owner. */
export function receivesFor(ledger: Ledger, account: Address, owner: Address): boolean {
  return !frozenOrGone(ledger, account) && ledger.get(account).token?.owner === owner;
}

/** Refuses unless the account exists and belongs to the owner, frozen or not. */
export function demandOwned(ledger: Ledger, account: Address, owner: Address, error: string): void {
  demand(ledger.get(account).token?.owner === owner, error);
}

/** How calls of tests are paid for where that is not what they are about. */
import { SPONSOR_ALL } from '../../../app/relay/config.ts';
import type { Funding } from '../../../app/relay/ledger/claims.ts';
import type { Budgets, Way } from '../../../app/relay/ledger/funding.ts';

/** On the house, nothing lent. */
export const ON_HOUSE: Way = { gas: 0n, house: 10_000n, recordRent: 0n, escrowRent: 0n, tank: 0n, mayBurn: 0n };

/** The house pays whatever there is to pay; `changes` are to the budgets. */
export const free = (changes: Partial<Budgets> = {}): Funding => ({
  ways: [ON_HOUSE],
  budgets: { ...SPONSOR_ALL, ...changes },
  purse: null,
});

/** Sponsorship of calls, for tests that are not about it. */
import { SPONSOR_ALL } from '../../../app/relay/config.ts';
import type { Funding } from '../../../app/relay/ledger/claims.ts';
import type { Budgets, Way } from '../../../app/relay/ledger/funding.ts';

/** The relay pays everything and lends no rent. */
export const ON_HOUSE: Way = { gas: 0n, house: 10_000n, recordRent: 0n, escrowRent: 0n, tank: 0n, mayBurn: 0n };

/** The relay pays for everything. `changes` override its budgets. */
export const free = (changes: Partial<Budgets> = {}): Funding => ({
  ways: [ON_HOUSE],
  budgets: { ...SPONSOR_ALL, ...changes },
  purse: null,
});

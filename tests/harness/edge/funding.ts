/** Sponsorship of calls, for tests that are not about it. */
import type { Funding } from '../../../app/relay/ledger/claims.ts';
import { type Lending, UNLIMITED, type Way } from '../../../app/relay/ledger/funding.ts';

/** The relay pays everything and lends no rent. */
export const FREE: Way = { fee: 0n, repaid: 0n, gas: 0n, recordRent: 0n, escrowRent: 0n, gasBalance: 0n };
export const SPONSORS_ALL: Lending = { sponsorsAll: true, limit: () => UNLIMITED, returnSeconds: () => 4_260 };

/** The relay pays for everything. */
export const free = (): Funding => ({ ways: [FREE], lending: SPONSORS_ALL, funds: null });

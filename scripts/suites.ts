/** The suites of `npm test` and `npm run test:all`, in the order in which they start. */
import { EVERYDAY } from './suites/everyday.ts';
import { LONG, ON_AGAVE } from './suites/long.ts';
import type { Suite } from './suites/suite.ts';

const asLong = (suite: Suite): Suite => ({ ...suite, long: true });

export const SUITES: Suite[] = [...ON_AGAVE.map(asLong), ...EVERYDAY, ...LONG.map(asLong)];

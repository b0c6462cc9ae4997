/** The chain's clock. The program compares times with it, not with any computer's clock. */
import { PublicKey } from '@solana/web3.js';
import { CLOCK } from './foreign.ts';

export { decodeClock } from './foreign.ts';

/** The account with the clock. */
export const CLOCK_ADDRESS = new PublicKey(CLOCK);

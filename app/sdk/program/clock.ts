/** The chain's clock, which is what the program compares with, and not the clock of any computer. */
import { SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';

/** The account that holds it. */
export const CLOCK_ADDRESS = SYSVAR_CLOCK_PUBKEY;
/** Where the account keeps its i64 `unix_timestamp`. */
const UNIX_TIMESTAMP_OFFSET = 32;

/** Unix seconds of the Clock sysvar's data. Throws RangeError where the data is shorter than a clock's. */
export function decodeClock(data: Uint8Array): bigint {
  return new DataView(data.buffer, data.byteOffset, data.byteLength).getBigInt64(UNIX_TIMESTAMP_OFFSET, true);
}

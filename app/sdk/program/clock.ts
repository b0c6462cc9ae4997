/** The chain's clock. The program compares times with it, not with any computer's clock. */
import { SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';

/** The account with the clock. */
export const CLOCK_ADDRESS = SYSVAR_CLOCK_PUBKEY;
/** Offset of the i64 `unix_timestamp` in that account. */
const UNIX_TIMESTAMP_OFFSET = 32;

/** Unix seconds of the Clock sysvar's data. Throws RangeError if the data are too short. */
export function decodeClock(data: Uint8Array): bigint {
  return new DataView(data.buffer, data.byteOffset, data.byteLength).getBigInt64(UNIX_TIMESTAMP_OFFSET, true);
}

/**
 * The sysvar LastRestartSlot. Final blocks come back only if the operators of a cluster agree to restart it from an
 * earlier one. Then this value changes, and everything that was read before is read again.
 */
import { PublicKey } from '@solana/web3.js';

export const RESTART_ADDRESS = new PublicKey('SysvarLastRestartS1ot1111111111111111111111');

/** The slot of the cluster's last restart, by the sysvar's data; 0 if there was none. */
export function decodeRestartSlot(data: Uint8Array | undefined): bigint {
  if (!data || data.byteLength < 8) return 0n;
  return new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(0, true);
}

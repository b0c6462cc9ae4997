/**
 * The sysvar LastRestartSlot. A cluster that restarts may continue from a slot before its last final one: only then can
 * final blocks be lost.
 */
import { type Connection, PublicKey } from '@solana/web3.js';

export const LAST_RESTART_ADDRESS = new PublicKey('SysvarLastRestartS1ot1111111111111111111111');

/** The slot of the cluster's last restart, at finality; 0 if it was never restarted. */
export async function readLastRestart(connection: Connection): Promise<bigint> {
  const account = await connection.getAccountInfo(LAST_RESTART_ADDRESS, 'finalized');
  return account ? account.data.readBigUInt64LE() : 0n;
}

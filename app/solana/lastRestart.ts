/**
 * The sysvar LastRestartSlot. A cluster that restarts may continue from a slot before its last final one: only then can
 * final blocks be lost.
 */
import { type AccountInfo, type Connection, PublicKey } from '@solana/web3.js';

export const LAST_RESTART_ADDRESS = new PublicKey('SysvarLastRestartS1ot1111111111111111111111');

/** The slot of the cluster's last restart by this account; 0 if it was never restarted. */
export const lastRestartIn = (account: AccountInfo<Buffer> | null | undefined): bigint =>
  account && account.data.length > 0 ? account.data.readBigUInt64LE() : 0n;

/** The slot of the cluster's last restart, at finality. */
export async function readLastRestart(connection: Connection): Promise<bigint> {
  return lastRestartIn(await connection.getAccountInfo(LAST_RESTART_ADDRESS, 'finalized'));
}

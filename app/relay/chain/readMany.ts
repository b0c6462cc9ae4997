/** Reads any number of accounts, although a node returns at most a hundred per call. */
import type { AccountInfo, PublicKey } from '@solana/web3.js';
import { chunks } from '../../process/chunks.ts';
import type { RelayChain } from './relayChain.ts';

/** Accounts per reading, so that readings of calls fit beside it in one batch (batches.ts). */
const AT_ONCE = 3;

/**
 * Accounts in the requested order, null if there is none, and the chain's clock, unix seconds. At least one address is
 * required.
 */
export async function readMany(chain: Pick<RelayChain, 'read'>, addresses: PublicKey[]) {
  const parts = await Promise.all(chunks(addresses, AT_ONCE).map((keys) => chain.read(keys)));
  const accounts: (AccountInfo<Buffer> | null)[] = parts.flatMap((part) => part.accounts);
  return { accounts, now: parts[0]!.now };
}

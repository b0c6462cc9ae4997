/** Any number of accounts, of which a node gives a hundred in a call. */
import type { AccountInfo, PublicKey } from '@solana/web3.js';
import { chunks } from '../../process/chunks.ts';
import type { RelayChain } from './relayChain.ts';

/** What one reading of the chain may name, so that readings of calls fit beside it; they are put together (batches.ts). */
const AT_ONCE = 3;

/** Accounts in the order asked for, null where there is none, and the chain's clock, unix seconds. At least one is asked for. */
export async function readMany(chain: Pick<RelayChain, 'read'>, addresses: PublicKey[]) {
  const parts = await Promise.all(chunks(addresses, AT_ONCE).map((keys) => chain.read(keys)));
  const accounts: (AccountInfo<Buffer> | null)[] = parts.flatMap((part) => part.accounts);
  return { accounts, now: parts[0]!.now };
}

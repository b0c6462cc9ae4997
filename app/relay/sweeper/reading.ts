/** Accounts as they are before and after a transaction of the sweeper's, and what is left alone for a while. */
import type { AccountInfo, PublicKey } from '@solana/web3.js';
import { chunks } from '../../process/chunks.ts';
import type { RelayChain } from '../chain/relayChain.ts';

/** What one reading of the chain may name, so that readings of calls fit beside it. */
const AT_ONCE = 3;

/** Accounts in the order asked for, null where there is none, and the chain's clock, unix seconds. */
export async function readAll(chain: Pick<RelayChain, 'read'>, addresses: PublicKey[]) {
  const parts = await Promise.all(chunks(addresses, AT_ONCE).map((keys) => chain.read(keys)));
  const accounts: (AccountInfo<Buffer> | null)[] = parts.flatMap((part) => part.accounts);
  return { accounts, now: parts[0]!.now };
}

/** What could not go lately, such as a record whose sponsor can take no lamports: tried again later, each time later. */
export interface Resting {
  rests(address: string): boolean;
  rest(address: string): void;
}

const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 86_400_000;
/** Those that rest longest are forgotten first, and cost one more try. */
const MOST_RESTING = 100_000;

export function createResting(now: () => number): Resting {
  const resting = new Map<string, { untilMs: number; restMs: number }>();
  return {
    rests: (address) => (resting.get(address)?.untilMs ?? 0) > now(),
    rest(address) {
      const restMs = Math.min(LONGEST_REST_MS, 8 * (resting.get(address)?.restMs ?? FIRST_REST_MS / 8));
      resting.delete(address);
      resting.set(address, { untilMs: now() + restMs, restMs });
      const [oldest] = resting.keys();
      if (resting.size > MOST_RESTING && oldest !== undefined) resting.delete(oldest);
    },
  };
}

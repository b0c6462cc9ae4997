/** The asker of work in threads: a wallet that has paid or has a live key, or the network of the request. */
import type { IncomingMessage } from 'node:http';
import type { Payers } from '../ledger/payers.ts';
import type { Asker } from '../workers.ts';
import { clientNetwork } from './clientAddress.ts';
import type { PublicLimitDeps } from './publicLimit.ts';

export interface AskerDeps {
  config: PublicLimitDeps['config'];
  payers: Payers;
}

/**
 * A call with a live key is never refused for what others at its address do. The key's deposit comes back, so only a
 * payment leads to the thread of those who pay.
 */
export async function askerOfKey({ payers }: Pick<AskerDeps, 'payers'>, wallet: string): Promise<Asker> {
  return { lane: (await payers.hasPaid(wallet)) ? 'paid' : 'newcomers', name: wallet, limited: wallet };
}

/** For a request without a key. `wallet` is null if it authenticates none. */
export async function askerOf(deps: AskerDeps, request: IncomingMessage, wallet: string | null): Promise<Asker> {
  if (wallet !== null && (await deps.payers.hasPaid(wallet))) return { lane: 'paid', name: wallet, limited: wallet };
  const { publicRate, trustProxy } = deps.config;
  const network = clientNetwork(request, trustProxy);
  return { lane: 'strangers', name: network, limited: publicRate.perSecond === 0 ? null : network };
}

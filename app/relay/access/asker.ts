/** The asker of work in threads: a wallet with a live key or that has paid, or the network of the request. */
import type { IncomingMessage } from 'node:http';
import type { Payers } from '../ledger/payers.ts';
import type { Asker } from '../workers.ts';
import { clientNetwork } from './clientAddress.ts';
import type { PublicRate } from './publicLimit.ts';

export interface AskerDeps {
  config: {
    publicRate: PublicRate;
    /** Number of trusted proxies that append to X-Forwarded-For. */
    trustProxy: number;
  };
  payers: Payers;
}

/** A live key is a deposit on the chain. Its calls are never refused for what others at their address do. */
export const askerOfKey = (wallet: string): Asker => ({ lane: 'paid', name: wallet, limited: wallet });

/** For a request without a key. `wallet` is null if it authenticates none. */
export async function askerOf(deps: AskerDeps, request: IncomingMessage, wallet: string | null): Promise<Asker> {
  if (wallet !== null && (await deps.payers.hasPaid(wallet))) return askerOfKey(wallet);
  const { publicRate, trustProxy } = deps.config;
  const network = clientNetwork(request, trustProxy);
  return { lane: 'strangers', name: network, limited: publicRate.perSecond === 0 ? null : network };
}

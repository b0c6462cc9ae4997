/** The asker of work in threads: a wallet that has paid, or the network of the request. */
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

/** `wallet` is null if the request authenticates none. */
export async function askerOf(deps: AskerDeps, request: IncomingMessage, wallet: string | null): Promise<Asker> {
  if (wallet !== null && (await deps.payers.hasPaid(wallet))) return { lane: 'paid', name: wallet, limited: wallet };
  const { publicRate, trustProxy } = deps.config;
  const network = clientNetwork(request, trustProxy);
  return { lane: 'strangers', name: network, limited: publicRate.perSecond === 0 ? null : network };
}

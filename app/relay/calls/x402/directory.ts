/** The agents that catalogues of x402 services find here: in /openapi.json and /.well-known/x402. */
import { AgentsQuery } from '../../../sdk/wire/wire.ts';
import type { ListDeps } from '../../agents/catalog.ts';
import { findAgents } from '../../agents/search.ts';
import { shareReading } from '../../shareReading.ts';
import type { X402Deps } from './repeated.ts';

/** The path of the x402 route. */
export const BUY_PATH = '/v1/x402/agents/{agent_id}/execute';
/** The same for one agent. */
export const offeredPath = (agentId: string): string => BUY_PATH.replace('{agent_id}', agentId);

/** The best agents of the marketplace: more would make /openapi.json long for everybody. */
export const MOST_OFFERED = 100;
/** Strangers may ask at any rate. */
const MAX_AGE_MS = 10_000;

/** One agent that x402 clients can pay. */
export interface Offered {
  agentId: string;
  /** Its creator's words. */
  name: string;
  tagline: string;
  /** Price and service fee, base units. */
  total: bigint;
}

type DirectoryDeps = Pick<ListDeps, 'views' | 'undocumented'> & Pick<X402Deps, 'x402'> & { now(): number };

/** Reads the best active agents; none if this service does not sell to x402 clients. */
export function createDirectory(deps: DirectoryDeps): () => Promise<Offered[]> {
  return shareReading(
    async () => {
      const { x402 } = deps;
      if (!x402) return [];
      const { agents } = await findAgents(deps, AgentsQuery.parse({ sort: 'best', limit: String(MOST_OFFERED) }));
      const serviceFee = x402.serviceFee();
      return agents.map(({ listing, price, description: { name, tagline } }) => {
        return { agentId: listing, name, tagline, total: price + serviceFee };
      });
    },
    deps.now,
    MAX_AGE_MS,
  );
}

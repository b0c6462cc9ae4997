/**
 * The chain of known latency in a process of its own, as `node chainProcess.ts DATA_DIR ENDPOINT LATENCY_MS`. It makes
 * the marketplace, tells where it is, and on `prepare` signs transactions of whole calls for somebody else to send.
 */

import { serveChain } from './chainServer.ts';
import { createMarket } from './market.ts';
import { type PreparedCall, prepareCalls } from './prepared.ts';

export interface ChainReady {
  rpcUrl: string;
  wsUrl: string;
  apiKey: string;
  agentId: string;
}

const [dataDir, endpoint, latencyMs] = process.argv.slice(2);
const { world, price, apiKey, agentId } = await createMarket(dataDir!, endpoint!);
const urls = await serveChain(world.vm, Number(latencyMs));

process.on('message', async ({ prepare }: { prepare: number }) => {
  const calls: PreparedCall[] = await prepareCalls(world, { count: prepare, price, apiKey });
  process.send?.(calls);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ...urls, apiKey, agentId } satisfies ChainReady);

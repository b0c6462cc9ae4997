/**
 * A chain of known latency in a process of its own, as `node chainProcess.ts DATA_DIR ENDPOINT LATENCY_MS [SCHEMA]`, where
 * SCHEMA is a file with the agent's input schema: the local
 * node, which runs each transaction so long after it came, and confirms it at once. It makes the marketplace, tells where
 * it is, and on `prepare` signs transactions of whole calls for somebody else to send.
 */

import { readFileSync } from 'node:fs';
import { LiteSvm } from 'litesvm/dist/internal.js';
import { startNode } from '../../app/local/node/server.ts';
import { createMarket } from './market.ts';
import { prepareCalls } from './prepared.ts';

export interface ChainReady {
  rpcUrl: string;
  wsUrl: string;
  apiKey: string;
  agentId: string;
}

/** Ten times the usual, so that what is signed beforehand is good for ten minutes. */
const SLOT_TIME_MS = 4_000;

const [dataDir, endpoint, latencyMs, schemaFile] = process.argv.slice(2);
const schema = schemaFile ? JSON.parse(readFileSync(schemaFile, 'utf8')) : undefined;
const { world, price, apiKey, agentId } = await createMarket(dataDir!, endpoint!, schema);
const svm = LiteSvm.fromBytes(world.vm.snapshot());
const { rpcUrl, wsUrl, bank } = await startNode({ slotTimeMs: SLOT_TIME_MS, latencyMs: Number(latencyMs), svm });

process.on('message', ({ prepare }: { prepare: number }) => {
  const { hash: recentBlockhash } = bank.slots.blockAt(bank.slots.current);
  process.send?.(prepareCalls(world, { count: prepare, price, apiKey, recentBlockhash }));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ rpcUrl, wsUrl, apiKey, agentId } satisfies ChainReady);

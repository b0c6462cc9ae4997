/** Settings of the cluster: its nodes, and what is paid and asked there. */
import { z } from 'zod';
import { heliusUrls, readHelius } from '../../solana/helius.ts';
import { nodesOf, urls } from '../../solana/nodes.ts';
import { amount, whole } from './numbers.ts';

/**
 * Micro-lamports per compute unit. A settle of 60,000 units pays 600 lamports, an eighth of its signature fee. It then
 * lands before transactions without a priority fee.
 */
const LIVE_PRIORITY_FEE = 10_000n;

export const clusterSettings = {
  ENVIRONMENT: z
    .enum(['test', 'live'])
    .default('test')
    .describe('live: mainnet, keys crtx_live_; test: devnet or a local network, keys crtx_test_'),
  SOLANA_RPC_URL: urls('http://127.0.0.1:8899').describe(
    'JSON-RPC URL of the Solana node. Several URLs, separated by commas: if one fails, the next is used; reads that decide about money ask two',
  ),
  SOLANA_WS_URL: urls('ws://127.0.0.1:8900').describe(
    'WebSocket URL of the same node, or of each node in the same order',
  ),
  HELIUS_API_KEY: z
    .string()
    .min(1)
    .optional()
    .describe('use Helius instead of SOLANA_RPC_URL and SOLANA_WS_URL, and ask it for priority fees'),
  HELIUS_URL: z
    .url()
    .optional()
    .describe('URL of Helius (default: https://mainnet.helius-rpc.com/ for live, devnet.helius-rpc.com for test)'),
  PUBLIC_RPC_URL: z
    .string()
    .refine((text) => z.url({ protocol: /^https?$/ }).safeParse(text).success, {
      error: 'must be a URL, https://HOST or http://HOST:PORT',
    })
    .optional()
    .describe('RPC URL that callers are shown (default: the origin of SOLANA_RPC_URL)'),
  EDGE_RPC_PER_SECOND: whole(1)
    .default(20)
    .describe('maximum average of chain reads per second for unpaid requests: keys, pages, readiness'),
  MAX_PRIORITY_FEE_LAMPORTS: amount()
    .default(100_000n)
    .describe(
      'maximum priority fee of one transaction, lamports, in addition to the fee for signatures; 0: no priority fees',
    ),
};

export function readCluster(env: z.output<z.ZodObject<typeof clusterSettings>>) {
  const helius = readHelius(env);
  const [{ rpcUrl, wsUrl }, ...moreNodes] = nodesOf(env.SOLANA_RPC_URL, env.SOLANA_WS_URL);
  return {
    environment: env.ENVIRONMENT,
    /** `moreNodes` are used if the first fails, and to confirm reads that decide about money. */
    ...(helius ? { ...heliusUrls(helius), moreNodes: [] } : { rpcUrl, wsUrl, moreNodes }),
    /** Null for a plain node. */
    helius,
    // Providers put their customers' keys into path, query or user name, and everybody sees this address.
    publicRpcUrl: env.PUBLIC_RPC_URL ?? new URL(rpcUrl).origin,
    edgeRpcPerSecond: env.EDGE_RPC_PER_SECOND,
    maxPriorityFeeLamports: env.MAX_PRIORITY_FEE_LAMPORTS,
    /** Micro-lamports per compute unit. */
    minPriorityFee: env.ENVIRONMENT === 'live' ? LIVE_PRIORITY_FEE : 0n,
  };
}

/** Node URLs in settings: one, or several separated by commas. */
import { z } from 'zod';

/** URLs of a node. A node without a WebSocket only answers requests. */
export interface NodeUrls {
  rpcUrl: string;
  wsUrl: string | null;
}

/** A setting of one or several URLs, with the scheme of its default: http or ws. Messages name the variable. */
export const urls = (usual: string) => {
  const scheme = usual.slice(0, usual.indexOf(':'));
  const url = z.url({ protocol: new RegExp(`^${scheme}s?$`) });
  return z
    .string()
    .refine((text) => listOf(text).every((one) => url.safeParse(one).success), {
      error: `must be a URL, ${scheme}s://HOST or ${scheme}://HOST:PORT, or several separated by commas`,
    })
    .default(usual);
};

/** The URLs of such a setting. */
export const listOf = (text: string) => text.split(',').map((one) => one.trim());

/**
 * Combines two such settings: the n-th WebSocket belongs to the n-th node. Throws if there are more WebSockets than
 * nodes.
 */
export function nodesOf(rpcUrls: string, wsUrls: string): [NodeUrls & { wsUrl: string }, ...NodeUrls[]] {
  const sockets = listOf(wsUrls);
  const [first, ...others] = listOf(rpcUrls).map((rpcUrl, index) => ({ rpcUrl, wsUrl: sockets[index] ?? null }));
  if (sockets.length > others.length + 1) throw new Error('SOLANA_WS_URL names more nodes than SOLANA_RPC_URL');
  return [{ rpcUrl: first!.rpcUrl, wsUrl: sockets[0]! }, ...others];
}

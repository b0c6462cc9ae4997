/** Addresses of nodes as settings name them: one, or several with commas between. */
import { z } from 'zod';

/** A node's addresses; without a WebSocket it is only asked. */
export interface NodeUrls {
  rpcUrl: string;
  wsUrl: string | null;
}

/** A setting of one URL or several, of the kind of its default: http or ws; messages name the variable. */
export const urls = (usual: string) => {
  const scheme = usual.slice(0, usual.indexOf(':'));
  const url = z.url({ protocol: new RegExp(`^${scheme}s?$`) });
  return z
    .string()
    .refine((text) => listOf(text).every((one) => url.safeParse(one).success), {
      error: `must be a URL, ${scheme}s://HOST or ${scheme}://HOST:PORT, or several with commas between`,
    })
    .default(usual);
};

/** The URLs of such a setting. */
export const listOf = (text: string) => text.split(',').map((one) => one.trim());

/** The nodes of two such settings, the n-th WebSocket of the n-th node. Throws where there are more WebSockets than nodes. */
export function nodesOf(rpcUrls: string, wsUrls: string): [NodeUrls & { wsUrl: string }, ...NodeUrls[]] {
  const sockets = listOf(wsUrls);
  const [first, ...others] = listOf(rpcUrls).map((rpcUrl, index) => ({ rpcUrl, wsUrl: sockets[index] ?? null }));
  if (sockets.length > others.length + 1) throw new Error('SOLANA_WS_URL names more nodes than SOLANA_RPC_URL');
  return [{ rpcUrl: first!.rpcUrl, wsUrl: sockets[0]! }, ...others];
}

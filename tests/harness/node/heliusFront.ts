import type { TestNode } from './node.ts';
import { type RpcCall, startRpcProxy } from './rpcProxy.ts';

export type { RpcCall } from './rpcProxy.ts';

/** By method: a function that makes the result. An Error becomes an error answer. */
export type Recorded = Record<string, (call: RpcCall) => unknown>;

/** One address for calls and WebSockets, as Helius has. It passes what is not recorded to the node. */
export async function startHeliusFront(recorded: Recorded, node?: TestNode) {
  const calls: Omit<RpcCall, 'id' | 'kind'>[] = [];
  const proxy = await startRpcProxy(node ?? { rpcUrl: '', wsUrl: '' });
  proxy.onCall((call) => {
    const { id, kind, ...received } = call;
    calls.push(received);
    const record = recorded[call.method];
    if (!record) return node ? null : { status: 404 };
    const result = record(call);
    const outcome = result instanceof Error ? { error: { code: -32_603, message: result.message } } : { result };
    return { json: { jsonrpc: '2.0', id, ...outcome } };
  });
  return {
    baseUrl: `${proxy.rpcUrl}/`,
    /** Every JSON-RPC call so far. */
    calls,
    upgrades: proxy.upgrades,
    stop: proxy.close,
  };
}

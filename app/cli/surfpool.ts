/**
 * Cheat codes of the local network's node, with Surfpool's names: JSON-RPC methods that no cluster has, so web3.js does
 * not know them.
 */
import type { PublicKey } from '@solana/web3.js';

/** One JSON-RPC call, for the methods that web3.js does not know. Throws with the node's message. */
export async function callRpc<T = unknown>(rpcUrl: string, method: string, params: unknown[] = []): Promise<T> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = (await response.json()) as { result?: T; error?: { code: number; message: string } };
  if (answer.error) throw new Error(`${method}: ${answer.error.message} (${answer.error.code})`);
  return answer.result as T;
}

/** True if the node has Surfpool's cheat codes. */
export async function isSurfpool(rpcUrl: string): Promise<boolean> {
  const version = await callRpc<Record<string, unknown>>(rpcUrl, 'getVersion');
  return 'surfnet-version' in version;
}

/** Sets an account's lamports on a Surfpool. */
export async function fundSol(rpcUrl: string, address: PublicKey, lamports: number): Promise<void> {
  await callRpc(rpcUrl, 'surfnet_setAccount', [address.toBase58(), { lamports }]);
}

/** Moves the chain to this slot; its clock moves along. Moving to a time instead makes the node miscount its slots. */
export async function travelToSlot(rpcUrl: string, slot: number): Promise<void> {
  await callRpc(rpcUrl, 'surfnet_timeTravel', [{ absoluteSlot: slot }]);
}

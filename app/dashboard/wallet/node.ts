/** Requests to the Solana node without web3.js, which is too large for a view that only shows figures. */
import { configQuery, queryClient } from '../service.ts';

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: each method has its own result, which its caller checks.
  result?: any;
  error?: { code: number };
}

/** Timeout of one request, ms. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Asks the node that the service names. Throws if it gives no answer. */
export async function askNode(method: string, params: unknown[]): Promise<Answer> {
  const { rpc_url } = await queryClient.ensureQueryData(configQuery);
  try {
    const response = await fetch(rpc_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    return (await response.json()) as Answer;
  } catch (cause) {
    throw new Error(`No Solana node answers at ${new URL(rpc_url).origin}.`, { cause });
  }
}

/** Reports every failed call to the node: no answer, an HTTP error, or an error in the answer. */
import type { RpcFetch } from './rpc.ts';

/** Sends with `send` unchanged; `onError` gets the method of each failed call. */
export function watchRpc(send: RpcFetch, onError: (method: string) => void): RpcFetch {
  return async (url, init) => {
    // One call per request: the relay sends no JSON-RPC batches.
    const method = /"method":"([A-Za-z]+)"/.exec(init?.body ?? '')?.[1] ?? 'unknown';
    try {
      const response = await send(url, init);
      if (!response.ok || isError(await response.text())) onError(method);
      return response;
    } catch (error) {
      if (!isOurs(init?.signal)) onError(method);
      throw error;
    }
  };
}

/** A call that we cancelled is not the node's fault; a timeout is. */
function isOurs(signal: AbortSignal | null | undefined): boolean {
  return signal?.aborted === true && (signal.reason as Error | undefined)?.name !== 'TimeoutError';
}

/** Parses the answer only if it contains the word `error`. */
function isError(text: string): boolean {
  if (!text.includes('"error"')) return false;
  try {
    return 'error' in (JSON.parse(text) as object);
  } catch {
    return true;
  }
}

/** Reports every call to the node that fails: no answer, a refusal by HTTP, or an error in the answer. */
import type { RpcFetch } from './rpc.ts';

/** Sends by `send` and changes nothing; `onError` is told the method of each call that fails. */
export function watchRpc(send: RpcFetch, onError: (method: string) => void): RpcFetch {
  return async (url, init) => {
    // One call each: the relay sends no batches.
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

/** A call that we ended ourselves is no fault of the node; one that it let wait too long is. */
function isOurs(signal: AbortSignal | null | undefined): boolean {
  return signal?.aborted === true && (signal.reason as Error | undefined)?.name !== 'TimeoutError';
}

/** Only an answer that has the word is parsed once more. */
function isError(text: string): boolean {
  if (!text.includes('"error"')) return false;
  try {
    return 'error' in (JSON.parse(text) as object);
  } catch {
    return true;
  }
}

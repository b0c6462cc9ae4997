/** The connection to the node over HTTP: no call hangs, and all end when the indexer is stopped. */
import { Connection } from '@solana/web3.js';

/** Time for one whole call; a backfill's largest answer is a few hundred kB. */
const CALL_TIMEOUT_MS = 15_000;

export function connectRpc(rpcUrl: string, stopping: AbortSignal): Connection {
  const inFlight = new Set<AbortController>();
  stopping.addEventListener('abort', () => {
    for (const call of inFlight) call.abort(new Error('stopped'));
  });
  const callNode = async (url: string, init: RequestInit): Promise<Response> => {
    const call = new AbortController();
    const timer = setTimeout(() => call.abort(new Error(`no answer in ${CALL_TIMEOUT_MS} ms`)), CALL_TIMEOUT_MS);
    inFlight.add(call);
    try {
      const response = await fetch(url, { ...init, signal: call.signal });
      // The body is read here, because the time for it counts too.
      return new Response(await response.arrayBuffer(), response);
    } finally {
      clearTimeout(timer);
      inFlight.delete(call);
    }
  };
  return new Connection(rpcUrl, {
    commitment: 'confirmed',
    disableRetryOnRateLimit: true,
    fetch: (url, init) => callNode(String(url), init as RequestInit),
  });
}

/**
 * Sends requests to this process's own routes without a network. So requests of /mcp pass through the same key checks,
 * rate limits and log as all others.
 */
import { createServer, type IncomingMessage, type RequestListener, request as send } from 'node:http';
import { duplexPair } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/** A `fetch` for requests on behalf of `caller`: from its address, and with none of its other headers. */
export function createFetchWithin(serve: RequestListener): (caller: IncomingMessage) => typeof fetch {
  // It never listens: its connections are made below.
  const server = createServer(serve);
  return (caller) => (input, init) => {
    const { url, method, headers, body, signal } = { url: new URL(String(input)), ...init };
    const [near, far] = duplexPair();
    Object.assign(far, {
      remoteAddress: caller.socket.remoteAddress,
      // This end needs no timeout: nobody waits for it longer than for the caller's own connection.
      setTimeout: () => far,
    });
    server.emit('connection', far);
    const { 'x-forwarded-for': list, forwarded } = caller.headers;
    return new Promise<Response>((resolve, reject) => {
      const outgoing = send({
        createConnection: () => near,
        path: url.pathname + url.search,
        method: method ?? 'GET',
        headers: {
          ...Object.fromEntries(new Headers(headers)),
          host: url.host,
          ...(list !== undefined && { 'x-forwarded-for': list }),
          ...(forwarded !== undefined && { forwarded }),
        },
        ...(signal && { signal }),
      });
      outgoing.once('error', (error) => reject(signal?.aborted ? signal.reason : error));
      outgoing.once('response', async (incoming) => {
        const bytes = await buffer(incoming).catch(reject);
        if (bytes) resolve(toResponse(incoming, bytes));
      });
      outgoing.end(body as string | Uint8Array | undefined);
    });
  };
}

function toResponse({ statusCode, headers }: IncomingMessage, bytes: Buffer): Response {
  const received = new Headers();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) received.set(name, String(value));
  return new Response(new Uint8Array(bytes), { status: statusCode ?? 500, headers: received });
}

/** Servers of tests, on free ports of this computer. */
import { once } from 'node:events';
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** Lets the server listen. Returns its address, as `http://127.0.0.1:1234`. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts an HTTP server. `close` also ends its connections. */
export async function serve(listener: RequestListener): Promise<{ url: string; server: HttpServer; close(): void }> {
  const server = createServer(listener);
  // Only the client closes idle connections. If both closed one at once, a request would be sent again or fail.
  server.keepAliveTimeout = 0;
  const url = await listen(server);
  return {
    url,
    server,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Starts HTTP servers that end with the suite. */
export function useServers(): (listener: RequestListener) => Promise<string> {
  const started: { close(): void }[] = [];
  after(() => {
    for (const server of started) server.close();
  });
  return async (listener) => {
    const server = await serve(listener);
    started.push(server);
    return server.url;
  };
}

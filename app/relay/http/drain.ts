/** Closes the server in order: current requests are answered first. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Counts the answers in progress. The returned function resolves once there are none. */
export function watchAnswers(server: Server): () => Promise<void> {
  const open = new Set<ServerResponse>();
  let onIdle: () => void = () => undefined;
  server.on('request', (_request, response: ServerResponse) => {
    open.add(response);
    response.once('close', () => {
      open.delete(response);
      if (open.size === 0) onIdle();
    });
  });
  return () =>
    new Promise((resolve) => {
      onIdle = resolve;
      if (open.size === 0) resolve();
    });
}

/** From now on each answer closes its connection, so that no later request arrives on it. */
export function endConnections(server: Server): void {
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  });
}

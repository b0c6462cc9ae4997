/** Ending in order: what is being answered is answered first. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Keeps count of the answers that are still being made; the returned function resolves once there are none. */
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

/** From now on each answer is the last of its connection, so that none is left on which a request could come too late. */
export function endConnections(server: Server): void {
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  });
}

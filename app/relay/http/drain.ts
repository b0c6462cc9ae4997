/** Closes the server in order: current requests are answered first. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Watches the answers in progress. The returned function resolves once there are none. */
export function watchAnswers(server: Server): () => Promise<void> {
  /** The last answer of each connection. The others are sent before it. */
  const open = new Map<Socket, ServerResponse>();
  let onIdle: () => void = () => undefined;
  function end(socket: Socket): void {
    open.delete(socket);
    if (open.size === 0) onIdle();
  }
  // An answer that is queued behind another gets no event when the connection closes.
  server.on('connection', (socket: Socket) => void socket.once('close', () => end(socket)));
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    open.set(socket, response);
    response.once('close', () => {
      if (open.get(socket) === response) end(socket);
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

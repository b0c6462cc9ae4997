/**
 * Limits on one connection of a client: its unanswered requests, and the time that it leaves an answer unread. Node
 * serves all requests of one packet at once, up to 2,000 in 64 KiB, and no other client meanwhile. Its own limits on a
 * connection's requests and bytes apply only after that.
 */
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Far more than a client that pipelines needs. Most clients and proxies send a request after the last answer. */
const MAX_UNANSWERED = 16;

/**
 * Serves the server's requests. Closes a connection at one request too many; the client may retry its unanswered
 * requests. Closes it too if the client takes nothing of its answers for `takeMs`.
 */
export function serveConnections(server: Server, serve: RequestListener, takeMs: number): void {
  const unanswered = new WeakMap<Socket, number>();
  server.on('request', (request, response) => {
    const { socket } = request;
    const count = (unanswered.get(socket) ?? 0) + 1;
    if (count > MAX_UNANSWERED) {
      request.destroy();
      return;
    }
    unanswered.set(socket, count);
    // Emitted once the connection has taken the whole answer.
    response.once('close', () => void unanswered.set(socket, unanswered.get(socket)! - 1));
    serve(request, response);
  });
  // Nothing has moved on the connection for `takeMs`, or for the time that Node keeps an idle one.
  server.setTimeout(takeMs, (socket) => {
    // An answer may take as long as an agent does.
    const isServed = (unanswered.get(socket) ?? 0) > 0 && socket.writableLength === 0;
    if (!isServed) socket.destroy();
  });
}

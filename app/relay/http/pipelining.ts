/**
 * Limits the unanswered requests of one connection. Node serves all requests of one packet at once, up to 2,000 in
 * 64 KiB, and no other client meanwhile. Its own limits on a connection's requests and bytes apply only after that.
 */
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Far more than a client that pipelines needs. Most clients and proxies send a request after the last answer. */
const MAX_UNANSWERED = 16;

/** Closes a connection at one request too many. The client may retry its unanswered requests. */
export function limitPipelining(serve: RequestListener): RequestListener {
  const unanswered = new WeakMap<Socket, number>();
  return (request, response) => {
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
  };
}

/** Ending in order: what is being answered is answered first, but nothing is waited for without an end. */
import type { Server, ServerResponse } from 'node:http';

/** Resolves when the promise has settled either way, or after this many ms. */
export async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise.then(nothing, nothing), limit]);
  clearTimeout(timer);
}

function nothing(): void {}

/** Keeps count of the answers that are still being made; the returned function resolves once there are none. */
export function watchAnswers(server: Server): () => Promise<void> {
  const open = new Set<ServerResponse>();
  let onIdle = nothing;
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

/** Reads the answer of a call, which may be streamed if that was asked for. */
import { readDelta, readEvents } from '../wire/eventStream.ts';

/** Receives the agent's output as it is written. */
export type OnDelta = (text: string) => void;

/** How a stream ended: with the answer or the error, as JSON. */
export interface StreamEnd {
  isError: boolean;
  text: string;
}

/**
 * Reads a streamed answer to its end, and reports each chunk by `onChunk`. One that ends too early says how far the call
 * was seen. Throws TypeError if the connection breaks.
 */
export async function readStreamed(response: Response, onDelta: OnDelta, onChunk: () => void): Promise<StreamEnd> {
  let latest: string | null = null;
  for await (const { name, data } of readEvents(chunksOf(response, onChunk))) {
    if (name === 'delta') onDelta(readDelta(data) ?? '');
    if (name === 'execution') latest = data;
    if (name === 'result' || name === 'error') return { isError: name === 'error', text: data };
  }
  if (latest === null) throw new TypeError('the stream ended before its first event');
  return { isError: false, text: latest };
}

/** Browsers' streams are no async iterables yet. */
export async function* chunksOf(
  { body }: Response,
  onChunk: () => void = () => {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body!.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      onChunk();
      yield next.value;
    }
  } finally {
    // Whoever stops early also closes the connection.
    await reader.cancel().catch(() => undefined);
  }
}

/** Reads the answer of a call, which may be streamed if that was asked for. */
import { isEventStream, readDelta, readEvents } from '../wire/eventStream.ts';
import { readJson, toError } from './answer.ts';

/** Receives the agent's output as it is written. */
export type OnDelta = (text: string) => void;

/** The JSON of an answer. */
export function readAnswer(response: Response, onDelta: OnDelta | undefined): Promise<unknown> {
  const isStreamed = onDelta !== undefined && isEventStream(response.headers.get('content-type'));
  return isStreamed ? readStreamed(response, onDelta) : readJson(response);
}

/**
 * The JSON of the final answer. A stream that ends without one says how far the call was seen. Throws MarketplaceError
 * for an error, and TypeError if the connection breaks.
 */
async function readStreamed(response: Response, onDelta: OnDelta): Promise<unknown> {
  let latest: unknown = null;
  for await (const { name, data } of readEvents(chunksOf(response))) {
    if (name === 'delta') onDelta(readDelta(data) ?? '');
    if (name === 'execution') latest = JSON.parse(data);
    if (name === 'result') return JSON.parse(data);
    if (name === 'error') throw toError(response, JSON.parse(data));
  }
  if (latest === null) throw new TypeError('the stream ended before its first event');
  return latest;
}

/** Browsers' streams are no async iterables yet. */
async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body!.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    // Whoever stops early also closes the connection.
    await reader.cancel().catch(() => undefined);
  }
}

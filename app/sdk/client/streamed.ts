/** Reads the answer of a call, which may be streamed if that was asked for. */
import { readDelta, readEvents } from '../wire/eventStream.ts';
import { startTimer } from './limit.ts';
import { connected } from './repeat.ts';

/** Receives the agent's output as it is written. */
export type OnDelta = (text: string) => void;

export interface StreamHandlers {
  onDelta?: OnDelta | undefined;
  /** Receives the execution's id, before any output. The price may not be in escrow yet. */
  onBegun?: ((executionId: string) => void) | undefined;
}

/** How a stream ended: with the answer or the error, as JSON. */
export interface StreamEnd {
  isError: boolean;
  text: string;
}

/**
 * Reads a streamed answer to its end, and reports each chunk by `onChunk`. One that ends too early says how far the call
 * was seen. Throws TypeError if the connection breaks.
 */
export async function readStreamed(
  response: Response,
  { onDelta, onBegun }: StreamHandlers,
  onChunk: () => void,
): Promise<StreamEnd> {
  let latest: string | null = null;
  for await (const { name, data } of readEvents(chunksOf(response, onChunk))) {
    if (name === 'delta') onDelta?.(readDelta(data) ?? '');
    if (name === 'execution') {
      latest = data;
      onBegun?.((JSON.parse(data) as { execution_id: string }).execution_id);
    }
    if (name === 'result' || name === 'error') return { isError: name === 'error', text: data };
  }
  if (latest === null) throw new TypeError('the stream ended before its first event');
  return { isError: false, text: latest };
}

/**
 * The chunks of a body, which browsers cannot iterate over yet. It ends after a silence of `silenceMs`; null for no limit.
 * Throws TypeError if the connection breaks.
 */
export async function* chunksOf(
  { body }: Response,
  onChunk: () => void = () => {},
  silenceMs: number | null = null,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body!.getReader();
  const cancel = () => reader.cancel().catch(() => undefined);
  try {
    for (;;) {
      // A read that waits is done once its reader is cancelled.
      const limit = startTimer(silenceMs, cancel);
      const { done, value } = await connected(reader.read()).finally(() => clearTimeout(limit));
      if (done) return;
      onChunk();
      yield value;
    }
  } finally {
    // Whoever stops early also closes the connection.
    await cancel();
  }
}

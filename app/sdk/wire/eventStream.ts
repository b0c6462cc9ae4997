/**
 * Server-Sent Events of a call: a creator's answer (`delta`, then `result`), and the marketplace's answer to its caller
 * (`execution`, `delta`, then `result` or `error`). Deltas are never verified. Only the whole result is.
 */
import { createParser } from 'eventsource-parser';

export const EVENT_STREAM = 'text/event-stream';

/** True if an answer, or an Accept header, names this media type. */
export function isEventStream(header: string | undefined | null): boolean {
  return (header ?? '').split(',').some((part) => part.split(';')[0]?.trim().toLowerCase() === EVENT_STREAM);
}

export interface StreamEvent {
  /** The id to resume the stream after, if it has ids. */
  id?: string | undefined;
  name: string;
  data: string;
}

/** The events in these bytes. Throws TypeError if they are not UTF-8. Leaving the loop closes the source. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent, void, undefined> {
  const events: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event = 'message', data }) => void events.push({ id, name: event, data }),
  });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* events.splice(0);
  }
}

/** One event as it is sent. `data` is JSON, which has no line breaks. */
export function renderEvent(name: string, data: string, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`;
}

/** The text of a delta's data, `{"text": "..."}`; null if it has none. */
export function readDelta(data: string): string | null {
  try {
    const { text } = JSON.parse(data) as { text?: unknown };
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}

/** Follows the events of a wallet or an execution, over as many connections as it takes. */
import { isEnd } from '../wire/choices.ts';
import { EVENT_STREAM, isEventStream, readEvents } from '../wire/eventStream.ts';
import { type HttpAnswer, unknownAnswer } from './http.ts';
import { sleep } from './repeat.ts';
import { chunksOf } from './streamed.ts';

/** Pause before a broken or ended stream is resumed, ms. */
const RESUME_MS = 1_000;

export interface StreamOptions {
  /** The id of the last event that you have, such as `evt_42`; the stream continues after it. */
  after?: string | undefined;
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
}

/** How a client asks and reads. */
interface Source<Event> {
  /** Opens a stream, and repeats that while it may help. Throws like the client's reads. */
  open(path: string, headers: Record<string, string>, signal: AbortSignal | undefined): Promise<HttpAnswer>;
  /** An event from its JSON. */
  read(data: string): Event;
  /** A stream that is silent for longer is opened again, ms. The marketplace sends a sign of life every 15 s. */
  silenceMs: number;
}

/** The methods of a client that follow events. They throw like its reads. */
export function createEventStreams<Event extends { type: string }>({ open, read, silenceMs }: Source<Event>) {
  async function* follow(
    path: string,
    { after, signal }: StreamOptions,
    isLast: (event: Event) => boolean,
  ): AsyncGenerator<Event, void, undefined> {
    for (let last = after; !signal?.aborted; ) {
      const headers = { accept: EVENT_STREAM, ...(last !== undefined && { 'last-event-id': last }) };
      const { response } = await open(path, headers, signal);
      if (response.status === 204) return;
      if (!isEventStream(response.headers.get('content-type'))) {
        await response.body?.cancel();
        throw unknownAnswer(response, 'no events. Is it the address of a marketplace?');
      }
      last ??= response.headers.get('last-event-id') ?? undefined;
      try {
        for await (const { id, data } of readEvents(chunksOf(response, undefined, silenceMs))) {
          last = id;
          const event = read(data);
          yield event;
          if (isLast(event)) return;
        }
      } catch (error) {
        // A connection that breaks is resumed; whatever else is wrong is the caller's to know.
        if (signal?.aborted) throw signal.reason;
        if (!(error instanceof TypeError)) throw error;
      }
      await sleep(RESUME_MS, signal);
    }
  }

  return {
    /** The events of one execution from its first on, until it has ended. Lost connections are resumed. */
    streamExecutionEvents: (executionId: string, options: StreamOptions = {}) =>
      follow(`/v1/executions/${encodeURIComponent(executionId)}/events`, options, isEnd),
    /** All events of the wallet from now on, until you leave the loop or abort the signal. */
    streamEvents: (options: StreamOptions = {}) => follow('/v1/events', options, () => false),
  };
}

/** Follows the events of a wallet or an execution, and reconnects as often as needed. */
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

/** The client's methods that open and read a stream. */
interface Source<Event> {
  /** Opens a stream, with retries while they may help. Throws like the client's reads. */
  open(path: string, headers: Record<string, string>, signal: AbortSignal | undefined): Promise<HttpAnswer>;
  /** Parses an event from its JSON. */
  read(data: string): Event;
  /** A stream that is silent for longer is opened again, ms. The marketplace sends a heartbeat every 15 s. */
  silenceMs: number;
}

/** A client's methods that follow events. They throw like its reads. */
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
        // A broken connection is resumed. Every other error goes to the caller.
        if (signal?.aborted) throw signal.reason;
        if (!(error instanceof TypeError)) throw error;
      }
      await sleep(RESUME_MS, signal);
    }
  }

  return {
    /** The events of one execution, from the first until it has ended. Lost connections are resumed. */
    streamExecutionEvents: (executionId: string, options: StreamOptions = {}) =>
      follow(`/v1/executions/${encodeURIComponent(executionId)}/events`, options, isEnd),
    /** All events of the wallet from now on, until you leave the loop or abort the signal. */
    streamEvents: (options: StreamOptions = {}) => follow('/v1/events', options, () => false),
  };
}

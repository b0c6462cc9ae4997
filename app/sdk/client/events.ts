/** Follows the events of a wallet or an execution, over as many connections as it takes. */
import { readEvents } from '../wire/eventStream.ts';
import { MarketplaceEvent as EventSchema, isEnd, type MarketplaceEvent } from '../wire/events.ts';
import { read } from './answer.ts';
import { toError } from './http.ts';
import { type Patience, repeat } from './repeat.ts';
import { chunksOf } from './streamed.ts';

/** Pause before a broken or ended stream is resumed, ms. */
const RESUME_MS = 1_000;

export interface StreamOptions {
  /** The id of the last event that you have, such as `evt_42`; the stream continues after it. */
  after?: string;
  /** Ends the stream. */
  signal?: AbortSignal;
}

interface StreamDeps {
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string | undefined;
  fetcher: typeof fetch;
  patience: Patience;
}

/** The methods of the client that follow events. They throw like its reads. */
export function createEventStreams({ baseUrl, apiKey, fetcher, patience }: StreamDeps) {
  async function open(path: string, after: string | undefined, signal: AbortSignal | undefined) {
    const headers = new Headers({ accept: 'text/event-stream' });
    if (apiKey) headers.set('authorization', `Bearer ${apiKey}`);
    if (after !== undefined) headers.set('last-event-id', after);
    const response = await fetcher(baseUrl + path, { headers, signal: signal ?? null });
    if (!response.ok) throw toError(response, await response.json().catch(() => null));
    return response.status === 204 ? null : response;
  }

  async function* follow(
    path: string,
    { after, signal }: StreamOptions,
    isLast: (event: MarketplaceEvent) => boolean,
  ): AsyncGenerator<MarketplaceEvent, void, undefined> {
    for (let last = after; !signal?.aborted; ) {
      const response = await repeat(() => open(path, last, signal), patience, signal);
      if (!response) return;
      last ??= response.headers.get('last-event-id') ?? undefined;
      try {
        for await (const { id, data } of readEvents(chunksOf(response))) {
          last = id;
          const event = read<unknown>(EventSchema, JSON.parse(data)) as MarketplaceEvent;
          yield event;
          if (isLast(event)) return;
        }
      } catch (error) {
        // A connection that breaks is resumed; whatever else is wrong is the caller's to know.
        if (signal?.aborted || !(error instanceof TypeError)) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RESUME_MS));
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

/** Follows the events of a wallet or an execution, and reconnects as often as needed. */
import { isEnd } from '../wire/choices.ts';
import { EVENT_STREAM, isEventStream, readEvents } from '../wire/eventStream.ts';
import type { ApiRequest, Client } from './client.ts';
import { unknownAnswer } from './http.ts';
import { type Patience, sleep } from './repeat.ts';
import { chunksOf } from './streamed.ts';
import type { ExecutionEvent, MarketplaceEvent } from './types.ts';

/** Pause before a broken or ended stream is resumed, ms. */
const RESUME_MS = 1_000;

export interface StreamOptions {
  /** The id of the last event that you have, such as `evt_42`; the stream continues after it. */
  after?: string | undefined;
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
  /** Limits for the retries of each opening, in place of the client's. */
  patience?: Partial<Patience> | undefined;
}

/** The events of one execution, from the first until it has ended. Lost connections are resumed. */
export const followExecution = (client: Client, executionId: string, options: StreamOptions = {}) =>
  follow<ExecutionEvent>(
    client,
    { route: 'streamExecutionEvents', input: { execution_id: executionId } },
    options,
    isEnd,
  );

/** All events of the wallet from now on, until you leave the loop or abort the signal. */
export const followWallet = (client: Client, options: StreamOptions = {}) =>
  follow<MarketplaceEvent>(client, { route: 'streamEvents', input: {} }, options, () => false);

/** Throws like a request. A stream that is silent for the client's timeout is opened again: heartbeats come every 15 s. */
async function* follow<Event extends { type: string }>(
  { ask, timeout }: Client,
  stream: ApiRequest,
  { after, signal, patience }: StreamOptions,
  isLast: (event: Event) => boolean,
): AsyncGenerator<Event, void, undefined> {
  for (let last = after; !signal?.aborted; ) {
    const headers = { accept: EVENT_STREAM, ...(last !== undefined && { 'last-event-id': last }) };
    const { response } = await ask({ ...stream, headers, signal, patience, keepsOpen: true });
    if (response.status === 204) return;
    if (!isEventStream(response.headers.get('content-type'))) {
      await response.body?.cancel();
      throw unknownAnswer(response, 'no events. Is it the address of a marketplace?');
    }
    last ??= response.headers.get('last-event-id') ?? undefined;
    try {
      for await (const { id, data } of readEvents(chunksOf(response, undefined, timeout))) {
        last = id;
        const event: Event = JSON.parse(data);
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

/**
 * The events of the signed-in wallet, one stream for each visible tab. They tell the page when to read executions and
 * balance again. Polls remain as a fallback.
 */
import { focusManager } from '@tanstack/react-query';
import { useEffect } from 'react';
import { EVENT_TYPES } from '../../sdk/wire/choices.ts';
import { BASE_URL, queryClient } from '../service.ts';

/** A connection may break unnoticed, so the page also polls while the stream is open. */
const OPEN_POLL_MS = 60_000;
const CLOSED_POLL_MS = 15_000;
/** A wallet may have at most 20 streams. A refused tab retries after this time. */
const REFUSED_MS = 60_000;
/** Pause between two reads, because a wallet may have many events per second. */
const PAUSE_MS = 1_000;

/** First parts of query keys. LISTS: every event may change them. OF_EXECUTION: only events of that execution do. */
const LISTS: unknown[] = ['executions', 'balance', 'disputes', 'disputes.mine'];
const OF_EXECUTION: unknown[] = ['execution', 'record', 'dispute'];

let stream: EventSource | null = null;

/** Poll interval for data that events report too, ms. */
export const pollMs = (): number =>
  stream !== null && stream.readyState === stream.OPEN ? OPEN_POLL_MS : CLOSED_POLL_MS;

/** Follows the wallet's events while the tab is visible. A hidden tab reads nothing, and leaves its stream to others. */
export function useWalletEvents(wallet: string | null | undefined): void {
  useEffect(() => {
    if (!wallet) return;
    let retry: ReturnType<typeof setTimeout>;
    function close(): void {
      clearTimeout(retry);
      stream?.close();
      stream = null;
    }
    function open(): void {
      close();
      if (!focusManager.isFocused()) return;
      const opened = new EventSource(`${BASE_URL}/v1/events`);
      stream = opened;
      for (const type of EVENT_TYPES) opened.addEventListener(type, onEvent);
      // The stream starts now, and the page's data may be older.
      opened.onopen = () => void readAgain(() => true);
      opened.onerror = () => {
        // The browser resumes a lost connection by itself, after the last event. It does not retry a refused one.
        if (opened.readyState !== opened.CLOSED) return;
        retry = setTimeout(open, REFUSED_MS);
        void queryClient.invalidateQueries({ queryKey: ['session'] });
      };
    }
    open();
    const leave = focusManager.subscribe(open);
    return () => {
      leave();
      close();
    };
  }, [wallet]);
}

/** Executions that events have named and the page has not read yet; `''` for an event without an execution. */
const told = new Set<unknown>();
let isReading = false;

function onEvent({ data }: MessageEvent<string>): void {
  told.add(JSON.parse(data).data.execution_id ?? '');
  if (!isReading) void readTold();
}

/** One read at a time: a second one would cancel the first. */
async function readTold(): Promise<void> {
  isReading = true;
  while (told.size > 0) {
    const ids = new Set(told);
    told.clear();
    await readAgain((id) => ids.has(id));
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  isReading = false;
}

const readAgain = (isAbout: (executionId: unknown) => boolean): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [name, id] }) => LISTS.includes(name) || (OF_EXECUTION.includes(name) && isAbout(id)),
  });

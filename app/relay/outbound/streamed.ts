/**
 * Reads an answer that a creator streams: deltas, passed on as they come, and the result event, which is judged like any
 * answer. If the caller does not read, the creator's stream pauses, so that deltas do not fill our memory.
 */
import type { Readable } from 'node:stream';
import { MAX_ANSWER_BYTES } from '../../sdk/creator/testPost.ts';
import { readDelta, readEvents } from '../../sdk/wire/eventStream.ts';
import { AnswerTooLarge, beginningOf, type CreatorAnswer, LONG_ANSWER_BYTES } from './answerBody.ts';
import type { Turns } from './turns.ts';

/** Limited, because each event costs some work, however short it is. */
const MAX_EVENTS = 50_000;
/** Chunks of the raw stream that are kept for the creator. */
const KEPT_CHUNKS = 16;

/** Passes a delta on. Resolves when the next one can be taken. */
export type OnDelta = (text: string) => Promise<void>;

interface Streaming {
  onDelta: OnDelta;
  turns: Turns;
  signal: AbortSignal;
  /** A stream that is silent for longer is given up. */
  idleMs: number;
}

/** The stream was silent. */
class StreamIdle extends Error {}

/** The answer in the stream. Rejects if the connection breaks. */
export async function readStreamed(
  body: Readable,
  { onDelta, turns, signal, idleMs }: Streaming,
): Promise<CreatorAnswer> {
  const kept: Buffer[] = [];
  const raw = () => ({ status: 200, ...beginningOf(kept) });
  const invalid = (message: string): CreatorAnswer => ({ kind: 'invalid', message, raw: raw() });
  /** Bytes since the last event, and the turn that a long event holds. */
  const event = { bytes: 0, release: null as (() => void) | null };

  async function* bounded(): AsyncGenerator<Buffer, void, undefined> {
    let total = 0;
    const giveUp = () => body.destroy(new StreamIdle());
    let timer = setTimeout(giveUp, idleMs);
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        clearTimeout(timer);
        total += chunk.length;
        event.bytes += chunk.length;
        if (kept.length < KEPT_CHUNKS) kept.push(chunk);
        if (total > MAX_ANSWER_BYTES) throw new AnswerTooLarge(kept);
        if (event.bytes > LONG_ANSWER_BYTES) event.release ??= await turns.take(signal);
        yield chunk;
        timer = setTimeout(giveUp, idleMs);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  try {
    let count = 0;
    for await (const { name, data } of readEvents(bounded())) {
      event.bytes = 0;
      event.release?.();
      event.release = null;
      count += 1;
      if (count > MAX_EVENTS) return invalid(`The creator's stream has more than ${MAX_EVENTS} events`);
      if (name === 'result') return { kind: 'body', body: [Buffer.from(data)] };
      if (name !== 'delta') continue;
      const text = readDelta(data);
      if (text === null) return invalid(`The creator's stream has a delta that is not {"text": "..."}`);
      await onDelta(text);
    }
    return invalid("The creator's stream ended without a result event");
  } catch (error) {
    if (error instanceof AnswerTooLarge)
      return invalid(`The creator's answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    if (error instanceof StreamIdle) {
      return { kind: 'failed', message: `The creator's stream was silent for ${idleMs / 1_000} seconds`, raw: raw() };
    }
    if ((error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      return invalid("The creator's stream is not valid UTF-8");
    }
    throw error;
  } finally {
    event.release?.();
    body.destroy();
  }
}

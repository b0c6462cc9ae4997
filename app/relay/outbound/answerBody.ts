/** Reads the body of a creator's answer, within limits, so that no server fills our memory. */
import { MAX_ANSWER_BYTES } from '../../sdk/creator/testPost.ts';
import { type Body, lengthOf } from '../longBytes.ts';
import type { Turns } from './turns.ts';

/** Answers longer than this are read only a few at a time per server, so that no single server fills our memory. */
export const LONG_ANSWER_BYTES = 64 * 1024;
export const MAX_LONG_ANSWERS = 6;
/** The part of a raw answer that is kept for the creator: enough to see what is wrong with it. */
const RAW_BYTES = 16 * 1024;

/** An unchanged HTTP answer. */
export interface RawAnswer {
  status: number;
  /** The beginning of the body. */
  body: Buffer;
  /** True if the body was longer. */
  isCut: boolean;
}

/**
 * The answer: a body, a timeout, or a final failure. A body keeps its parts as received, because joining a long one
 * blocks the event loop. The others have the last HTTP answer, if one came.
 */
export type CreatorAnswer =
  | { kind: 'body'; body: Body }
  | { kind: 'timeout' | 'failed' | 'invalid'; message: string; raw?: RawAnswer | null };

/** The answer exceeds the size limit. `chunks` are its beginning. */
export class AnswerTooLarge extends Error {
  readonly chunks: Buffer[];
  constructor(chunks: Buffer[]) {
    super();
    this.chunks = chunks;
  }
}

/** The beginning of a body, as text or to keep. */
export function beginningOf(body: Body, most = RAW_BYTES): Pick<RawAnswer, 'body' | 'isCut'> {
  const length = lengthOf(body);
  const bytes = Buffer.alloc(Math.min(most, length));
  let at = 0;
  for (const part of body) {
    if (at >= bytes.length) break;
    bytes.set(part.subarray(0, bytes.length - at), at);
    at += part.length;
  }
  return { body: bytes, isCut: length > bytes.length };
}

/** Reads the beginning of a body that is not judged. If the body is longer, closes its connection. */
export async function readBeginning(
  body: AsyncIterable<Buffer>,
  most = RAW_BYTES,
): Promise<Pick<RawAnswer, 'body' | 'isCut'>> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      if (lengthOf(chunks) > most) break;
    }
  } catch {
    // The connection ended early; the part that came is kept.
  }
  return beginningOf(chunks, most);
}

/** Reads the whole body. A long one waits for a turn among the long answers of its server. */
export async function readBounded(body: AsyncIterable<Buffer>, turns: Turns, signal: AbortSignal): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let size = 0;
  let release: (() => void) | null = null;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_ANSWER_BYTES) throw new AnswerTooLarge(chunks);
      if (size > LONG_ANSWER_BYTES) release ??= await turns.take(signal);
    }
    return chunks;
  } finally {
    release?.();
  }
}

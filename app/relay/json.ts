/** Reads untrusted JSON, and writes JSON answers, checked against their schema. */
import type { z } from 'zod';
import type { Body } from './longBytes.ts';
import { bytesInThread } from './workers.ts';

export { JsonError, parseJson, parseJsonObject } from '../sdk/wire/strictJson.ts';

/** JSON text for members of an object, written elsewhere. The values of these members in the object are ignored. */
export type Parts = Record<string, string | Uint8Array>;

/** A value with some members as JSON text. */
export interface InParts<Value> {
  value: Value;
  parts: Parts;
}

/** Up to this size a text is quoted in the main thread, in half a millisecond. */
const SMALL_TEXT = 64 * 1024;

const quoteInThread = bytesInThread(import.meta.url, quoteNow);

/** A UTF-8 text as a JSON string; for `reader` if it is stored. Rejects with ApiError 503 if too many read long ones. */
export async function quoteText(utf8: Uint8Array, reader?: string): Promise<Uint8Array> {
  if (utf8.length <= SMALL_TEXT) return quoteNow(utf8);
  return quoteInThread([utf8], undefined, reader === undefined ? undefined : { reader });
}

export function quoteNow(utf8: Uint8Array): Uint8Array {
  return Buffer.from(JSON.stringify(new TextDecoder('utf-8', { ignoreBOM: true }).decode(utf8)));
}

/** The bytes of a JSON answer. Throws if the value does not fit its schema. */
export function renderJson<Schema extends z.ZodType>(schema: Schema, value: z.input<Schema>): Buffer {
  return Buffer.from(JSON.stringify(schema.parse(value)));
}

/** Like `renderJson`, with members that are JSON text already. Each becomes one part of the body. */
export function renderParts<Schema extends z.ZodType>(schema: Schema, value: z.input<Schema>, parts: Parts = {}): Body {
  if (Object.keys(parts).length === 0) return [renderJson(schema, value)];
  const parsed = schema.parse(value);
  const members = Object.entries(parsed as object).filter(([, member]) => member !== undefined);
  const rendered = members.flatMap(([name, member], index) => [
    Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`),
    typeof parts[name] === 'object' ? parts[name] : Buffer.from(parts[name] ?? JSON.stringify(member)),
  ]);
  return [...rendered, Buffer.from('}')];
}

/**
 * JSON from strangers, read so that it means one thing to everybody: valid UTF-8, bounded depth, no repeated name, no
 * `__proto__`, no lone surrogate, no number beyond a double. What passes has RFC 8785 bytes and is safe to store.
 */

/** What is wrong with the text, in words for whoever sent it. */
export class JsonError extends Error {
  override name = 'JsonError';
}

const DEFAULT_DEPTH = 64;
const SURROGATE = /\p{Surrogate}/u;

/** The JSON value in these bytes. Throws JsonError. Depth counts nested arrays and objects, values all but the first of each. */
export function parseJson(bytes: Uint8Array, options: { maxDepth?: number; maxValues?: number } = {}): unknown {
  const text = decodeUtf8(bytes);
  if (text.trim() === '') throw new JsonError('there is no JSON in it');
  // The scan comes first: what nests too deep is not even parsed.
  scan(text, options.maxDepth ?? DEFAULT_DEPTH, options.maxValues ?? Number.POSITIVE_INFINITY);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new JsonError(`it is not valid JSON: ${(error as Error).message}`);
  }
  requireFinite(value);
  return value;
}

/** The JSON object in these bytes. Throws JsonError where they hold another value. */
export function parseJsonObject(bytes: Uint8Array): Record<string, unknown> {
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new JsonError('it must be an object');
  return value as Record<string, unknown>;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    // A byte order mark is kept, so that it is refused like any other stray character.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new JsonError('it is not valid UTF-8');
  }
}

/**
 * Walks the brackets and strings. A string is a name when a colon follows it. Broken syntax may be misread here, which
 * does no harm: JSON.parse refuses it afterwards.
 */
function scan(text: string, maxDepth: number, maxValues: number): void {
  const names: Set<string>[] = [];
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '{' || character === '[') {
      if (names.push(new Set()) > maxDepth) throw new JsonError(`it is nested deeper than ${maxDepth} levels`);
    } else if (character === ',') {
      values += 1;
      if (values > maxValues) throw new JsonError(`it holds more than ${maxValues} values`);
    } else if (character === '}' || character === ']') {
      names.pop();
    } else if (character === '"') {
      const end = endOfString(text, at);
      const content = readString(text.slice(at, end + 1));
      at = end;
      if (content !== null && isColonNext(text, end + 1)) claimName(names.at(-1), content);
    }
  }
}

/** Index of the closing quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  throw new JsonError('it is not valid JSON: a string does not end');
}

/** What a string literal says; null where JSON.parse will refuse it. */
function readString(literal: string): string | null {
  // Valid UTF-8 holds no surrogates, so only an escape can bring one in.
  if (!literal.includes('\\')) return literal.slice(1, -1);
  let content: string;
  try {
    content = JSON.parse(literal);
  } catch {
    return null;
  }
  if (SURROGATE.test(content)) throw new JsonError('a string in it has half of a surrogate pair');
  return content;
}

function isColonNext(text: string, from: number): boolean {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at += 1;
  return text[at] === ':';
}

function claimName(names: Set<string> | undefined, name: string): void {
  if (name === '__proto__') throw new JsonError('it uses the name __proto__');
  if (names?.has(name)) throw new JsonError(`it has the name ${JSON.stringify(name.slice(0, 40))} twice in one object`);
  names?.add(name);
}

/** JSON.parse turns 1e400 into Infinity, which no JSON can say again. */
function requireFinite(value: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new JsonError('a number in it is too large');
  if (typeof value !== 'object' || value === null) return;
  for (const item of Object.values(value)) requireFinite(item);
}

/**
 * Reads JSON from strangers so that it has one meaning everywhere: valid UTF-8, bounded depth, no repeated name, no
 * `__proto__`, no lone surrogate. Numbers must fit a double. Accepted JSON has RFC 8785 bytes and is safe to store.
 */

/** One wrong value: its path, the expected value, and the actual one. */
interface WrongValue {
  path: string;
  expected: string;
  got: string;
}

/** The fault of the text, in words for its sender. */
export class JsonError extends Error {
  override name = 'JsonError';
  /** Null unless the fault is a single value. */
  readonly wrong: WrongValue | null;

  constructor(message: string, wrong: WrongValue | null = null) {
    super(message);
    this.wrong = wrong;
  }
}

const DEFAULT_DEPTH = 64;
/** Longer numbers are not quoted in the error. */
const MAX_SHOWN = 60;
const SURROGATE = /\p{Surrogate}/u;

export interface JsonLimits {
  /** Maximum nesting of arrays and objects. */
  maxDepth?: number;
  /** Maximum values, without the first of each array and object. */
  maxValues?: number;
  /**
   * True if whole numbers beyond 2^53 - 1 are accepted and rounded to the nearest double. Not for requests: the number
   * that is forwarded and paid for would differ from the sent one.
   */
  roundNumbers?: boolean;
}

/** The JSON value in these bytes. Throws JsonError. */
export function parseJson(bytes: Uint8Array, options: JsonLimits = {}): unknown {
  const text = decodeUtf8(bytes);
  // Some editors write it. JSON.parse would name it by a character that nobody sees.
  if (text.startsWith('\uFEFF')) throw new JsonError('it begins with a byte order mark: use UTF-8 without one');
  if (text.trim() === '') throw new JsonError('it is empty');
  // The scan comes first, so that deep nesting is never parsed.
  scan(text, options);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new JsonError(`it is not valid JSON: ${(error as Error).message}`);
  }
  requireFinite(value);
  return value;
}

/** The JSON object in these bytes. Throws JsonError for any other value. */
export function parseJsonObject(bytes: Uint8Array): Record<string, unknown> {
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new JsonError('it must be an object');
  return value as Record<string, unknown>;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    // A byte order mark is kept, so that it is refused.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new JsonError('it is not valid UTF-8');
  }
}

/** An open array or object during the scan, and the position in it. */
interface Frame {
  names: Set<string>;
  /** The latest name; null in an array. */
  name: string | null;
  index: number;
}

/**
 * Scans the brackets, strings and numbers. A string is a name if a colon follows it. Broken syntax may be misread here;
 * JSON.parse rejects it afterwards.
 */
function scan(text: string, options: JsonLimits): void {
  const { maxDepth = DEFAULT_DEPTH, maxValues = Number.POSITIVE_INFINITY, roundNumbers = false } = options;
  const frames: Frame[] = [];
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '{' || character === '[') {
      if (frames.push({ names: new Set(), name: null, index: 0 }) > maxDepth) {
        throw new JsonError(`it is nested deeper than ${maxDepth} levels`);
      }
    } else if (character === ',') {
      const frame = frames.at(-1);
      if (frame) frame.index += 1;
      values += 1;
      if (values > maxValues) throw new JsonError(`it contains more than ${maxValues} values`);
    } else if (character === '}' || character === ']') {
      frames.pop();
    } else if (character === '"') {
      const end = endOfString(text, at);
      const content = readString(text.slice(at, end + 1));
      at = end;
      if (content !== null && isColonNext(text, end + 1)) claimName(frames.at(-1), content);
    } else if (isDigit(text, at)) {
      const end = endOfNumber(text, at);
      if (!roundNumbers) requireExact(text[at - 1] === '-' ? text.slice(at - 1, end) : text.slice(at, end), frames);
      at = end - 1;
    }
  }
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

/** Index after the last character of the number. */
function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (isDigit(text, at) || text[at] === '.' || text[at] === 'e' || text[at] === 'E') {
    const isExponent = text[at] === 'e' || text[at] === 'E';
    at += isExponent && (text[at + 1] === '+' || text[at + 1] === '-') ? 2 : 1;
  }
  return at;
}

/**
 * A whole number must fit a double exactly. With a fraction or exponent it only needs to be finite: a sender of 0.1 or
 * 1e21 expects the nearest double.
 */
function requireExact(literal: string, frames: Frame[]): void {
  // Fifteen digits always fit a double.
  if (literal.length <= 15 && !/e/i.test(literal)) return;
  const value = Number(literal);
  if (Number.isNaN(value)) return;
  const isWhole = !/[.e]/i.test(literal);
  if (isWhole ? Number.isSafeInteger(value) : Number.isFinite(value)) return;
  const path = frames.map(({ name, index }) => name ?? String(index)).join('.');
  const expected = isWhole
    ? 'must be a number from -(2^53 - 1) to 2^53 - 1, or a string'
    : 'must be a number within the range of a double, or a string';
  const got = literal.length <= MAX_SHOWN ? literal : `a number of ${literal.length} characters`;
  throw new JsonError(`the value of ${JSON.stringify(path)} ${expected}`, { path, expected, got });
}

/** Index of the closing quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  throw new JsonError('it is not valid JSON: a string does not end');
}

/** The content of a string literal; null if JSON.parse will reject it. */
function readString(literal: string): string | null {
  // Valid UTF-8 has no surrogates, so only an escape can produce one.
  if (!literal.includes('\\')) return literal.slice(1, -1);
  let content: string;
  try {
    content = JSON.parse(literal);
  } catch {
    return null;
  }
  if (SURROGATE.test(content)) throw new JsonError('a string in it has a lone surrogate');
  return content;
}

function isColonNext(text: string, from: number): boolean {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at += 1;
  return text[at] === ':';
}

function claimName(frame: Frame | undefined, name: string): void {
  if (name === '__proto__') throw new JsonError('it uses the name __proto__');
  if (!frame) return;
  if (frame.names.has(name)) {
    throw new JsonError(`it has the name ${JSON.stringify(name.slice(0, 40))} twice in one object`);
  }
  frame.names.add(name);
  frame.name = name;
}

/** JSON.parse turns 1e400 into Infinity, which JSON cannot express. */
function requireFinite(value: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new JsonError('a number in it is too large');
  if (typeof value !== 'object' || value === null) return;
  for (const item of Object.values(value)) requireFinite(item);
}

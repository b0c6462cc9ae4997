/** Regular expressions from strangers, run by RE2: their time is linear in the text, for every expression. */
import { RE2JS } from 're2js';

/** Longest `pattern`. The longest that zod emits, for dates, has 250 characters. */
export const MAX_PATTERN_LENGTH = 1_000;

export interface Pattern {
  test(text: string): boolean;
  /** Number of compiled instructions: memory, and worst-case time per character. */
  size: number;
}

/** The compiled expression; null if RE2 cannot read it. */
export function readPattern(source: string): Pattern | null {
  const pattern = tryPattern(source);
  return typeof pattern === 'string' ? null : pattern;
}

/** The compiled expression, or why it is not allowed. */
export function tryPattern(source: string): Pattern | string {
  if (source.length > MAX_PATTERN_LENGTH) return `must be at most ${MAX_PATTERN_LENGTH} characters`;
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    return { test: (text) => compiled.test(text), size: compiled.programSize() };
  } catch (error) {
    const reason = (error as Error).message.replace(/^error parsing regexp: /, '').slice(0, 120);
    return `must be a regular expression that RE2 can read, without lookahead and backreferences (${reason})`;
  }
}

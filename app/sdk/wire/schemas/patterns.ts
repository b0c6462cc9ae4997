/**
 * Regular expressions from strangers, by RE2: their time grows with the text and never faster, whatever the expression.
 */
import { RE2JS } from 're2js';

/** Longest `pattern`. The longest that zod emits, for dates, has 250 characters. */
export const MAX_PATTERN_LENGTH = 1_000;

export interface Pattern {
  test(text: string): boolean;
  /** Instructions of the compiled expression: memory, and in the worst case time for each character. */
  size: number;
}

/** The expression, compiled; null where RE2 cannot read it. */
export function readPattern(source: string): Pattern | null {
  const pattern = tryPattern(source);
  return typeof pattern === 'string' ? null : pattern;
}

/** The expression, compiled, or why it cannot be a pattern. */
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

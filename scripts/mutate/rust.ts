/**
 * A minimal parser of Rust that finds a macro's call or an attribute, and splits it into parts. It counts brackets in a
 * text whose comments and literals are blanked.
 */

/** A range of a text, from `start` (inclusive) to `end` (exclusive). */
export interface Range {
  start: number;
  end: number;
}

const IGNORED = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|b?"(?:\\[\s\S]|[^"\\])*"|b?'(?:\\(?:x\w\w|u\{\w+\}|.)|[^\\'\n])'/g;
const CLOSING: Record<string, string> = { '(': ')', '[': ']', '{': '}', '<': '>' };

/** Replaces comments, strings and characters by spaces. All offsets and lines stay the same. */
export function blank(text: string): string {
  return text.replace(IGNORED, (ignored) => ignored.replace(/[^\n]/g, ' '));
}

/** The offset of the bracket that closes the one at `open`, in a blanked text. */
export function closing(blanked: string, open: number): number {
  const opened = blanked.charAt(open);
  const closed = CLOSING[opened];
  let depth = 0;
  for (let at = open; at < blanked.length; at += 1) {
    if (blanked[at] === opened) depth += 1;
    else if (blanked[at] === closed) depth -= 1;
    if (depth === 0) return at;
  }
  throw new RangeError(`the bracket at ${open} is never closed`);
}

/** Splits at commas outside brackets and trims. An empty last part is left out. */
export function parts(blanked: string, range: Range): Range[] {
  const found: Range[] = [];
  let start = range.start;
  for (let at = range.start; at <= range.end; at += 1) {
    const character = blanked.charAt(at);
    if (at === range.end || character === ',') {
      const piece = blanked.slice(start, at);
      const lead = piece.length - piece.trimStart().length;
      if (piece.trim() !== '') found.push({ start: start + lead, end: start + piece.trimEnd().length });
      start = at + 1;
    } else if ('([{'.includes(character)) {
      at = closing(blanked, at);
    }
  }
  return found;
}

/** Line and column from 1. The column counts characters, as in rustc. */
export function position(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { line, column: [...before.slice(before.lastIndexOf('\n') + 1)].length + 1 };
}

/** The blanked text without unit tests, which are not part of the program. */
export function withoutTests(blanked: string): string {
  return blanked.replace(/#\[cfg\(test\)\]\s*mod \w+ \{[\s\S]*$/, (tests) => tests.replace(/[^\n]/g, ' '));
}

/** A piece of source on one line. */
export function oneLine(text: string): string {
  return text
    .replace(/\/\/[^\n]*/g, '')
    .replace(/\s+/g, ' ')
    .replace(/,? ([)\]])/g, '$1')
    .trim();
}

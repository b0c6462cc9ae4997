/**
 * Just enough reading of Rust to find a macro's call or an attribute and to tell its parts: brackets are counted in a
 * text whose comments and literals are blanked, so that nothing inside them counts.
 */

/** A stretch of a text: from `start`, up to and without `end`. */
export interface Range {
  start: number;
  end: number;
}

const IGNORED = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|b?"(?:\\[\s\S]|[^"\\])*"|b?'(?:\\(?:x\w\w|u\{\w+\}|.)|[^\\'\n])'/g;
const CLOSING: Record<string, string> = { '(': ')', '[': ']', '{': '}', '<': '>' };

/** The text with comments, strings and characters turned into spaces, every offset and line as before. */
export function blank(text: string): string {
  return text.replace(IGNORED, (ignored) => ignored.replace(/[^\n]/g, ' '));
}

/** Where the bracket that opens at `open` closes, in a blanked text. */
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

/** The parts between the commas that stand in no bracket, trimmed; an empty last part is left out. */
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

/** Line and column from 1, the column in characters, as rustc counts them. */
export function position(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { line, column: [...before.slice(before.lastIndexOf('\n') + 1)].length + 1 };
}

/** The blanked text without its unit tests, which are no part of the program. */
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

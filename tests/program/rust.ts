/** A minimal parser of Rust: it counts brackets in a text whose comments and literals are blanked. */

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

/** The blanked text without unit tests, which are not part of the program. */
export function withoutTests(blanked: string): string {
  return blanked.replace(/#\[cfg\(test\)\]\s*mod \w+ \{[\s\S]*$/, (tests) => tests.replace(/[^\n]/g, ' '));
}

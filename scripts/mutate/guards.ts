/**
 * Finds the checks of the program: each `ensure!` of the source is one mutant. A single build with the `ensure!` of
 * `ensure.rs` has a switch for each check, which can be turned off in the finished binary.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutant.ts';
import { blank, closing, oneLine, parts, position, withoutTests } from './rust.ts';

/** The file that defines `ensure!`. */
export const GUARD_FILE = 'programs/marketplace/src/guard.rs';

/** Adds switches to that file. The released program has none. */
export function withSwitches(text: string): string {
  const blanked = blank(text);
  const start = blanked.indexOf('macro_rules! ensure');
  if (start < 0) throw new Error(`${GUARD_FILE} does not define ensure!`);
  const end = closing(blanked, blanked.indexOf('{', start)) + 1;
  return text.slice(0, start) + readFileSync(join(import.meta.dirname, 'ensure.rs'), 'utf8') + text.slice(end);
}

/** The eight bytes that mark the check at `place`, "FILE:LINE:COLUMN", in the binary. */
function mark(place: string): Buffer {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(place)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  const bytes = Buffer.from('\0\0\0\0\0TUM', 'latin1');
  bytes.writeUInt32LE(hash);
  return bytes;
}

/** A check, and its place as the compiler names it. Anchor's `require!` is found too, but has no switch. */
export interface Guard extends Mutant {
  place: string;
}

/** All checks of one file. Its path is relative to the workspace's root. */
export function findGuards(file: string, text: string): Guard[] {
  const blanked = withoutTests(blank(text));
  return [...blanked.matchAll(/\b(?:ensure|require)!\s*\(/g)].map((match) => {
    const open = match.index + match[0].length - 1;
    const [condition, error] = parts(blanked, { start: open + 1, end: closing(blanked, open) });
    if (!condition || !error) throw new Error(`${file}: a check without condition or error at ${match.index}`);
    const { line, column } = position(text, match.index);
    return {
      kind: 'program',
      id: `${file}:${line}:${column}`,
      place: `${file}:${line}:${column}`,
      file,
      line,
      text: oneLine(text.slice(condition.start, condition.end)),
      error: /(\w+)$/.exec(blanked.slice(error.start, error.end))?.[1] ?? null,
    };
  });
}

/** All offsets of the mark in a binary. A host build may contain several copies. */
function offsetsOf(binary: Buffer, bytes: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = binary.indexOf(bytes); at >= 0; at = binary.indexOf(bytes, at + 1)) offsets.push(at);
  return offsets;
}

/** The binary with one check switched off; null if it does not contain the check. */
export function switchOff(binary: Buffer, place: string): Buffer | null {
  const offsets = offsetsOf(binary, mark(place));
  if (offsets.length === 0) return null;
  const mutated = Buffer.from(binary);
  for (const offset of offsets) mutated.fill(0, offset, offset + 8);
  return mutated;
}

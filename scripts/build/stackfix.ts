// The one change made to a program after linking: where a sixth and later argument of a call is stored.
//
// sbpf-linker hands such arguments over in the callee's stack frame, on the assumption that frames touch each other.
// In SBPF v0, the version that runtimes execute, a 4,096-byte gap lies between frames: the caller's store has to reach
// one gap further. The callee's loads are relative to its own frame and right as they are.
import { BuildError } from './process.ts';

const GAP = 0x1000;
const KNOWN_LINKER = '0.2.6';
const FRAME_POINTER = 10;
const LOAD_IMMEDIATE_64 = 0x18;

/** Offset and size in bytes of `.text` in a little-endian 64-bit ELF file. */
function findText(elf: Buffer): { start: number; size: number } {
  if (elf.readUInt32BE(0) !== 0x7f454c46 || elf[4] !== 2 || elf[5] !== 1) throw new BuildError('not a 64-bit ELF file');
  const table = Number(elf.readBigUInt64LE(0x28));
  const entrySize = elf.readUInt16LE(0x3a);
  const count = elf.readUInt16LE(0x3c);
  const section = (index: number) => table + index * entrySize;
  const contents = (at: number) => Number(elf.readBigUInt64LE(at + 0x18));
  const names = contents(section(elf.readUInt16LE(0x3e)));
  for (let index = 0; index < count; index++) {
    const name = names + elf.readUInt32LE(section(index));
    if (elf.toString('latin1', name, elf.indexOf(0, name)) === '.text') {
      return { start: contents(section(index)), size: Number(elf.readBigUInt64LE(section(index) + 0x20)) };
    }
  }
  throw new BuildError('the program has no .text section');
}

/**
 * Moves every store above the frame pointer one gap up, in place, and gives their number. Refuses an unknown linker,
 * and a program that was already fixed (its stores are beyond the gap).
 */
export function fixStackArguments(elf: Buffer, linkerVersion: string): number {
  if (linkerVersion !== KNOWN_LINKER) {
    throw new BuildError(`sbpf-linker ${linkerVersion}: how it passes arguments on the stack has to be checked first.`);
  }
  const { start, size } = findText(elf);
  const stores: number[] = [];
  for (let at = start; at < start + size; at += elf[at] === LOAD_IMMEDIATE_64 ? 16 : 8) {
    const kind = elf.readUInt8(at) & 0x07;
    const base = elf.readUInt8(at + 1) & 0x0f;
    const isStore = kind === 2 || kind === 3;
    if (isStore && base === FRAME_POINTER && elf.readInt16LE(at + 2) > 0) stores.push(at + 2);
  }
  if (stores.some((at) => elf.readInt16LE(at) >= GAP)) throw new BuildError('the stack fix was already applied.');
  for (const at of stores) elf.writeInt16LE(elf.readInt16LE(at) + GAP, at);
  return stores.length;
}

/** Decompresses zstd: raw blocks, which the embedded node writes, directly, all others with the `zstd` program. */
import { spawnSync } from 'node:child_process';

/** Size of the header of a frame that stores its content size in eight bytes. Blocks follow. */
const HEADER_BYTES = 13;
const BLOCK_HEADER_BYTES = 3;

/** Input and output are base64. */
export function decompress(base64: string): string {
  const frame = Buffer.from(base64, 'base64');
  const raw = rawBlocks(frame);
  if (raw) return raw.toString('base64');
  const { stdout, status, error } = spawnSync('zstd', ['-dc'], { input: frame });
  if (status !== 0)
    throw new Error('zstd is needed to read the answers of a validator: apt-get install zstd', { cause: error });
  return stdout.toString('base64');
}

/** Null if a block is compressed. */
function rawBlocks(frame: Buffer): Buffer | null {
  const parts: Buffer[] = [];
  if (frame[4] !== 0b1110_0000) return null;
  for (let at = HEADER_BYTES; ; ) {
    const header = frame.readUIntLE(at, BLOCK_HEADER_BYTES);
    if ((header & 0b110) !== 0) return null;
    const from = at + BLOCK_HEADER_BYTES;
    at = from + (header >> 3);
    parts.push(frame.subarray(from, at));
    if (header & 1) return Buffer.concat(parts);
  }
}

/** Bytes as a zstd frame of raw blocks, which every decoder reads; nothing is compressed. */
const MAGIC = 0xfd2fb528;
/** A single segment, so that the frame has no window descriptor. Its size field has eight bytes. */
const DESCRIPTOR = 0b1110_0000;
const HEADER_BYTES = 13;
const MAX_BLOCK_BYTES = 128 * 1_024;
const BLOCK_HEADER_BYTES = 3;

export function toZstd(bytes: Uint8Array): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MAGIC, 0);
  header.writeUInt8(DESCRIPTOR, 4);
  header.writeBigUInt64LE(BigInt(bytes.length), 5);
  const parts = [header];
  for (let from = 0; from === 0 || from < bytes.length; from += MAX_BLOCK_BYTES) {
    const block = bytes.subarray(from, from + MAX_BLOCK_BYTES);
    const isLast = from + MAX_BLOCK_BYTES >= bytes.length;
    const prefix = Buffer.alloc(BLOCK_HEADER_BYTES);
    prefix.writeUIntLE((block.length << 3) | (isLast ? 1 : 0), 0, BLOCK_HEADER_BYTES);
    parts.push(prefix, Buffer.from(block));
  }
  return Buffer.concat(parts);
}

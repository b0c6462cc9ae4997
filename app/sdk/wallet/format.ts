/** Formats values of the chain for this library's answers. */
import { bytesToHex } from '@noble/hashes/utils.js';

/** Unix seconds as ISO 8601 in UTC; null for 0, which on-chain means never. */
export function formatTime(seconds: bigint): string | null {
  return seconds === 0n ? null : new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}

/** Bytes as lower-case hex; null for all zero, which on-chain means none. */
export function formatBytes(bytes: Uint8Array): string | null {
  return bytes.every((byte) => byte === 0) ? null : bytesToHex(bytes);
}

/** Receives a line about the present step, for a waiting person. */
export type Progress = (line: string) => void;

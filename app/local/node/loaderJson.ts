/** Parses the two accounts of a program, for an explorer's page about it. */
import { PublicKey } from '@solana/web3.js';

export const LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111';
/** Kinds of the upgradeable loader's accounts, as u32. */
const PROGRAM = 2;
const PROGRAM_DATA = 3;
/** Kind, u64 slot and the authority as an Option. */
const HEADER_BYTES = 45;

/** Null for an account of another kind. */
export function parseLoaded(data: Uint8Array): { type: string; info: object } | null {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const kind = bytes.length < 4 ? null : bytes.readUInt32LE(0);
  if (kind === PROGRAM) return { type: 'program', info: { programData: keyAt(bytes, 4) } };
  if (kind !== PROGRAM_DATA) return null;
  const slot = Number(bytes.readBigUInt64LE(4));
  const authority = bytes[12] === 1 ? keyAt(bytes, 13) : null;
  return { type: 'programData', info: { slot, authority, data: [bytes.toString('base64', HEADER_BYTES), 'base64'] } };
}

function keyAt(bytes: Buffer, at: number): string {
  return new PublicKey(bytes.subarray(at, at + 32)).toBase58();
}

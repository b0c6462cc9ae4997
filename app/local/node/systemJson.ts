/** Parses the accounts of the loader and the sysvars. */
import { PublicKey } from '@solana/web3.js';

/** A validator's names for the owners of accounts parsed here. */
export const SYSTEMS: Record<string, string> = {
  BPFLoaderUpgradeab1e11111111111111111111111: 'bpf-upgradeable-loader',
  Sysvar1111111111111111111111111111111111111: 'sysvar',
};

/** Data lengths that identify the sysvars. */
const CLOCK_BYTES = 40;
const RENT_BYTES = 17;
/** Kinds of the upgradeable loader's accounts, as u32. */
const KINDS = { uninitialized: 0, buffer: 1, program: 2, programData: 3 };
const BUFFER_HEADER = 37;
const PROGRAM_DATA_HEADER = 45;

/** Null if a validator shows the account as bytes too. */
export function parseSystem(owner: string, data: Uint8Array): { type: string; info?: object } | null {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const kind = SYSTEMS[owner];
  if (kind === 'sysvar') return parseSysvar(bytes);
  return kind === 'bpf-upgradeable-loader' && bytes.length >= 4 ? parseLoaded(bytes) : null;
}

function parseSysvar(bytes: Buffer) {
  if (bytes.length === RENT_BYTES) return { type: 'rent', info: { lamportsPerByte: String(bytes.readBigUInt64LE(0)) } };
  if (bytes.length !== CLOCK_BYTES) return null;
  const info = {
    slot: Number(bytes.readBigUInt64LE(0)),
    epoch: Number(bytes.readBigUInt64LE(16)),
    epochStartTimestamp: Number(bytes.readBigInt64LE(8)),
    leaderScheduleEpoch: Number(bytes.readBigUInt64LE(24)),
    unixTimestamp: Number(bytes.readBigInt64LE(32)),
  };
  return { type: 'clock', info };
}

function parseLoaded(bytes: Buffer) {
  const kind = bytes.readUInt32LE(0);
  if (kind === KINDS.uninitialized) return { type: 'uninitialized' };
  if (kind === KINDS.program) return { type: 'program', info: { programData: keyAt(bytes, 4) } };
  if (kind === KINDS.buffer)
    return { type: 'buffer', info: { authority: authorityAt(bytes, 4), data: rest(bytes, BUFFER_HEADER) } };
  if (kind !== KINDS.programData) return null;
  const [slot, data] = [Number(bytes.readBigUInt64LE(4)), rest(bytes, PROGRAM_DATA_HEADER)];
  return { type: 'programData', info: { slot, authority: authorityAt(bytes, 12), data } };
}

function rest(bytes: Buffer, from: number) {
  return [bytes.subarray(from).toString('base64'), 'base64'];
}

function authorityAt(bytes: Buffer, at: number): string | null {
  return bytes[at] === 1 ? keyAt(bytes, at + 1) : null;
}

function keyAt(bytes: Buffer, at: number): string {
  return new PublicKey(bytes.subarray(at, at + 32)).toBase58();
}

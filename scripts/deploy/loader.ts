/** The upgradeable loader, the owner of all upgradeable programs: its instructions and the state of its accounts. */
import {
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';

export const LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');

/** Bytes before the program in each account: a tag and fields, which the decode functions below read. */
export const BUFFER_HEADER = 37;
export const PROGRAM_BYTES = 36;
export const PROGRAM_DATA_HEADER = 45;
/** The smallest extension that the loader allows (SIMD-0431). */
export const LEAST_EXTENSION = 10_240;

/** Numbers of the loader's instructions. */
const INITIALIZE_BUFFER = 0;
const WRITE = 1;
const DEPLOY = 2;
const UPGRADE = 3;
const CLOSE = 5;
const EXTEND = 6;
/** Tags of the loader's accounts. */
const BUFFER = 1;
const PROGRAM = 2;
const PROGRAM_DATA = 3;

const signer = (pubkey: PublicKey) => ({ pubkey, isSigner: true, isWritable: false });
const payer = (pubkey: PublicKey) => ({ pubkey, isSigner: true, isWritable: true });
const written = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: true });
const read = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: false });
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const instruction = (keys: TransactionInstruction['keys'], ...data: Uint8Array[]) =>
  new TransactionInstruction({ programId: LOADER, keys, data: Buffer.concat(data) });

/** The address of the account in which the loader keeps a program's bytes. */
export const findProgramDataOf = (programId: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync([programId.toBytes()], LOADER)[0];

export const initializeBuffer = (buffer: PublicKey, authority: PublicKey) =>
  instruction([written(buffer), read(authority)], u32(INITIALIZE_BUFFER));

export const writeBuffer = (buffer: PublicKey, authority: PublicKey, offset: number, bytes: Uint8Array) =>
  instruction([written(buffer), signer(authority)], u32(WRITE), u32(offset), u64(bytes.length), bytes);

interface Parties {
  programId: PublicKey;
  buffer: PublicKey;
  /** Pays, owns buffer and program, and receives the buffer's lamports. */
  authority: PublicKey;
}

/** Deploys the program from the buffer, with `length` bytes and no spare space. */
export const deployBuffer = ({ programId, buffer, authority }: Parties, length: number) =>
  instruction(
    [
      payer(authority),
      written(findProgramDataOf(programId)),
      written(programId),
      written(buffer),
      read(SYSVAR_RENT_PUBKEY),
      read(SYSVAR_CLOCK_PUBKEY),
      read(SystemProgram.programId),
      signer(authority),
    ],
    u32(DEPLOY),
    u64(length),
  );

export const upgradeToBuffer = ({ programId, buffer, authority }: Parties) =>
  instruction(
    [
      written(findProgramDataOf(programId)),
      written(programId),
      written(buffer),
      written(authority),
      read(SYSVAR_RENT_PUBKEY),
      read(SYSVAR_CLOCK_PUBKEY),
      signer(authority),
    ],
    u32(UPGRADE),
  );

/** Extends the program's account by `bytes`. */
export const extendProgram = (programId: PublicKey, paidBy: PublicKey, bytes: number) =>
  instruction(
    [written(findProgramDataOf(programId)), written(programId), read(SystemProgram.programId), payer(paidBy)],
    u32(EXTEND),
    u32(bytes),
  );

export const closeBuffer = (buffer: PublicKey, authority: PublicKey) =>
  instruction([written(buffer), written(authority), signer(authority)], u32(CLOSE));

/** Decodes an optional key; null if it is absent. */
const optionalKey = (data: Buffer, at: number): PublicKey | null =>
  data[at] === 1 ? new PublicKey(data.subarray(at + 1, at + 33)) : null;

/** A buffer's authority and bytes; null if the account is not a buffer. */
export function decodeBuffer(data: Buffer): { authority: PublicKey | null; bytes: Buffer } | null {
  if (data.length < BUFFER_HEADER || data.readUInt32LE(0) !== BUFFER) return null;
  return { authority: optionalKey(data, 4), bytes: data.subarray(BUFFER_HEADER) };
}

/** True for the account of a program. */
export const isProgram = (data: Buffer): boolean => data.length >= PROGRAM_BYTES && data.readUInt32LE(0) === PROGRAM;

/** Slot of the last change, upgrade authority (null: not upgradeable), and the program's bytes with the spare space. */
export function decodeProgramData(data: Buffer): { slot: bigint; authority: PublicKey | null; bytes: Buffer } | null {
  if (data.length < PROGRAM_DATA_HEADER || data.readUInt32LE(0) !== PROGRAM_DATA) return null;
  return {
    slot: data.readBigUInt64LE(4),
    authority: optionalKey(data, 12),
    bytes: data.subarray(PROGRAM_DATA_HEADER),
  };
}

/**
 * Writes transactions of version 1, which web3.js can only read. They hold 4,096 bytes and 64 addresses, so several
 * calls share one. Their budget is in the message, and their signatures follow it.
 */
import { type MessageV0, type PublicKey, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';

/** The first byte: version 1. */
const VERSION = 0x81;
/** Bits of the config: both for the priority fee, a limit of compute units, and a limit of loaded bytes. */
const PRIORITY = 0b11;
const UNIT_LIMIT = 1 << 2;
const LOADED_LIMIT = 1 << 3;
/** Maximum of each, as the runtime allows it. */
export const MOST_UNITS = 1_400_000;
const MOST_LOADED_BYTES = 64 * 1_024 * 1_024;
const SIGNATURE_BYTES = 64;

/** What a transaction may use and pays beyond its signatures. */
export interface Budget {
  /** Limit of compute units. */
  units: number;
  /** The whole priority fee, lamports. */
  priority: bigint;
}

/** The bytes to sign, which the signatures follow. */
export function encodeVersionOne(message: MessageV0, { units, priority }: Budget): Buffer {
  const { header, staticAccountKeys: keys, compiledInstructions: instructions, recentBlockhash } = message;
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  return Buffer.concat([
    Buffer.of(VERSION, numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts),
    u32((priority > 0n ? PRIORITY : 0) | UNIT_LIMIT | LOADED_LIMIT),
    bs58.decode(recentBlockhash),
    Buffer.of(instructions.length, keys.length),
    ...keys.map((key) => key.toBytes()),
    ...(priority > 0n ? [u64(priority)] : []),
    u32(units),
    u32(MOST_LOADED_BYTES),
    ...instructions.map(({ programIdIndex, accountKeyIndexes, data }) =>
      Buffer.of(programIdIndex, accountKeyIndexes.length, data.length & 0xff, data.length >> 8),
    ),
    ...instructions.flatMap(({ accountKeyIndexes, data }) => [Buffer.from(accountKeyIndexes), data]),
  ]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

/** The message as a transaction to simulate: without priority fee, and with empty signatures. */
export function toVersionOne(message: MessageV0): Buffer {
  const signatures = Buffer.alloc(message.header.numRequiredSignatures * SIGNATURE_BYTES);
  return Buffer.concat([encodeVersionOne(message, { units: MOST_UNITS, priority: 0n }), signatures]);
}

/** The index of the instruction that names this account; null if none or several do, as in a transaction of one call. */
export function instructionOf(bytes: Uint8Array, account: PublicKey): number | null {
  const { staticAccountKeys: keys, compiledInstructions } = VersionedTransaction.deserialize(bytes).message;
  const key = keys.findIndex((one) => one.equals(account));
  const naming = [...compiledInstructions.keys()].filter((index) =>
    [...compiledInstructions[index]!.accountKeyIndexes].includes(key),
  );
  return naming.length === 1 ? naming[0]! : null;
}

/**
 * Writes transactions of version 1, which web3.js can only read. They hold 4,096 bytes and 64 addresses, so several
 * calls share one. Their budget is in the message, and their signatures follow it.
 */
import { type MessageV0, type PublicKey, type TransactionInstruction, VersionedTransaction } from '@solana/web3.js';
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
const MOST_BYTES = 4_096;
const MOST_ADDRESSES = 64;
const SIGNATURE_BYTES = 64;
/** The count of signatures before version 1. */
const COUNT_BYTES = 1;
const ADDRESS_BYTES = 32;
/** Of each instruction beside its accounts and data. */
const INSTRUCTION_BYTES = 4;
/** Head, blockhash, counts, the three values of the config, and one signature. */
const FIXED_BYTES = 4 + 4 + 32 + 2 + 8 + 4 + 4 + SIGNATURE_BYTES;

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

/** The same transaction, of any version, with empty signatures. Its signatures follow it in version 1, else their count. */
export function withoutSignatures(bytes: Uint8Array): Buffer {
  const { version, header } = VersionedTransaction.deserialize(bytes).message;
  const length = header.numRequiredSignatures * SIGNATURE_BYTES;
  const from = version === 1 ? bytes.length - length : COUNT_BYTES;
  return Buffer.from(bytes).fill(0, from, from + length);
}

/** True if one transaction that only `payer` signs holds all of these. */
export function fitsVersionOne(instructions: readonly TransactionInstruction[], payer: PublicKey): boolean {
  const addresses = new Set([payer.toBase58()]);
  let length = FIXED_BYTES;
  for (const { programId, keys, data } of instructions) {
    addresses.add(programId.toBase58());
    for (const { pubkey } of keys) addresses.add(pubkey.toBase58());
    length += INSTRUCTION_BYTES + keys.length + data.length;
  }
  return addresses.size <= MOST_ADDRESSES && length + addresses.size * ADDRESS_BYTES <= MOST_BYTES;
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

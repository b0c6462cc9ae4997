/**
 * Writes transactions of version 1, which web3.js can only read. They hold 4,096 bytes, so that two transactions of
 * version 0 fit into one. Here they are only simulated.
 */
import type { MessageV0 } from '@solana/web3.js';
import bs58 from 'bs58';

/** The first byte: version 1. */
const VERSION = 0x81;
/** Bits of the config: a limit of compute units, and a limit of loaded bytes. Version 1 needs both. */
const UNIT_LIMIT = 1 << 2;
const LOADED_LIMIT = 1 << 3;
/** Maximum of each, as the runtime allows it. */
export const MOST_UNITS = 1_400_000;
const MOST_LOADED_BYTES = 64 * 1_024 * 1_024;
const SIGNATURE_BYTES = 64;

/** The message as a transaction of version 1 without priority fee, and with empty signatures. */
export function toVersionOne(message: MessageV0): Buffer {
  const { header, staticAccountKeys: keys, compiledInstructions: instructions, recentBlockhash } = message;
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  const u32 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  return Buffer.concat([
    Buffer.of(VERSION, numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts),
    u32(UNIT_LIMIT | LOADED_LIMIT),
    bs58.decode(recentBlockhash),
    Buffer.of(instructions.length, keys.length),
    ...keys.map((key) => key.toBytes()),
    u32(MOST_UNITS),
    u32(MOST_LOADED_BYTES),
    ...instructions.map(({ programIdIndex, accountKeyIndexes, data }) =>
      Buffer.of(programIdIndex, accountKeyIndexes.length, data.length & 0xff, data.length >> 8),
    ),
    ...instructions.flatMap(({ accountKeyIndexes, data }) => [Buffer.from(accountKeyIndexes), data]),
    Buffer.alloc(numRequiredSignatures * SIGNATURE_BYTES),
  ]);
}

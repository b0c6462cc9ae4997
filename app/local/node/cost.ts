/** A transaction's share of a block: the bytes that it loads, and its cost as block producers count it. */
import type { PublicKey, VersionedMessage } from '@solana/web3.js';
import type { Account, LiteSvm } from 'litesvm/dist/internal.js';
import { LOADER } from './loaderJson.ts';

/** Bytes counted for each account in addition to its data. */
const ACCOUNT_BYTES = 64;
/** In a program of the upgradeable loader, offset of the address of its data: after u32 kind. */
const PROGRAM_DATA_AT = 4;
const ADDRESS_BYTES = 32;

const UNITS_PER_SIGNATURE = 720;
const UNITS_PER_WRITABLE = 300;
const BYTES_PER_UNIT = 4;
const PAGE_BYTES = 32 * 1_024;
const UNITS_PER_PAGE = 8;

/** Bytes of all accounts that a transaction names, including the code of programs. */
export function loadedBytes(
  svm: LiteSvm,
  accounts: (Account | null)[],
  keyOf: (bytes: Uint8Array) => PublicKey,
): number {
  let total = 0;
  for (const account of accounts) {
    if (!account) continue;
    const data = account.data();
    total += ACCOUNT_BYTES + data.length;
    if (data.length !== PROGRAM_DATA_AT + ADDRESS_BYTES || keyOf(account.owner()).toBase58() !== LOADER) continue;
    const code = svm.getAccount(data.subarray(PROGRAM_DATA_AT));
    if (code) total += ACCOUNT_BYTES + code.data().length;
  }
  return total;
}

export function costUnits(message: VersionedMessage, consumed: number, loaded: number): number {
  const writable = message.staticAccountKeys.filter((_, index) => message.isAccountWritable(index)).length;
  const data = message.compiledInstructions.reduce((bytes, instruction) => bytes + instruction.data.length, 0);
  return (
    message.header.numRequiredSignatures * UNITS_PER_SIGNATURE +
    writable * UNITS_PER_WRITABLE +
    Math.floor(data / BYTES_PER_UNIT) +
    consumed +
    Math.ceil(loaded / PAGE_BYTES) * UNITS_PER_PAGE
  );
}

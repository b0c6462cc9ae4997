/**
 * Without web3.js: accounts that other programs own, from their bytes (the chain's clock, and token accounts), and what
 * Solana itself decides.
 */

/** Addresses, base58. */
export const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

/** The highest number that a node accepts, so that it answers with a transaction of any version. */
export const ANY_VERSION = 255;

/** Bytes that the chain adds to every account when it computes its deposit. */
export const ACCOUNT_OVERHEAD = 128;
/** Bytes of a token account, for its refundable deposit. */
export const TOKEN_ACCOUNT_SIZE = 165;

/** Offset of the i64 `unix_timestamp` in the clock's account. */
const UNIX_TIMESTAMP_OFFSET = 32;
/** The loader's layout of a program: u32 kind, the address of its data. */
const PROGRAM_DATA_OFFSET = 4;
/** The loader's layout of a program's data: u32 kind, u64 slot, u8 tag and key of the upgrade authority. */
const HAS_UPGRADE_KEY_OFFSET = 12;
const UPGRADE_KEY_OFFSET = 13;
const KEY_SIZE = 32;
/** Bytes at the beginning of a program and of its data, for the next two functions. */
export const PROGRAM_HEAD_SIZE = 45;
/** The token program's layout: mint, owner, u64 amount, u32 tag and key of the delegate, ..., u64 delegated amount. */
const AMOUNT_OFFSET = 64;
const HAS_DELEGATE_OFFSET = 72;
const DELEGATE_OFFSET = 76;
const DELEGATED_AMOUNT_OFFSET = 121;

const viewOf = (data: Uint8Array) => new DataView(data.buffer, data.byteOffset, data.byteLength);

/** Unix seconds of the clock's data. Throws RangeError if the data are too short. */
export function decodeClock(data: Uint8Array): bigint {
  return viewOf(data).getBigInt64(UNIX_TIMESTAMP_OFFSET, true);
}

/** The address of a program's data, 32 bytes, from the program's account. */
export const programDataOf = (program: Uint8Array): Uint8Array =>
  program.slice(PROGRAM_DATA_OFFSET, PROGRAM_DATA_OFFSET + KEY_SIZE);

/** The key that can replace a program, 32 bytes, from the program's data; null if none can. */
export const upgradeKeyOf = (programData: Uint8Array): Uint8Array | null =>
  programData[HAS_UPGRADE_KEY_OFFSET] === 1
    ? programData.slice(UPGRADE_KEY_OFFSET, UPGRADE_KEY_OFFSET + KEY_SIZE)
    : null;

export interface TokenData {
  /** Base units. */
  amount: bigint;
  /** 32 bytes. */
  delegate: Uint8Array | null;
  /** Base units that the delegate may still take. */
  delegatedAmount: bigint;
}

/** Reads the data of an account of the token program; null if it is no token account. */
export function decodeTokenData(data: Uint8Array): TokenData | null {
  if (data.length !== TOKEN_ACCOUNT_SIZE) return null;
  const view = viewOf(data);
  const hasDelegate = view.getUint32(HAS_DELEGATE_OFFSET, true) === 1;
  return {
    amount: view.getBigUint64(AMOUNT_OFFSET, true),
    delegate: hasDelegate ? data.subarray(DELEGATE_OFFSET, DELEGATE_OFFSET + 32) : null,
    delegatedAmount: view.getBigUint64(DELEGATED_AMOUNT_OFFSET, true),
  };
}

/** Decodes transactions, and computes their fees and a validator's error messages. */
import {
  ComputeBudgetProgram,
  Ed25519Program,
  type PublicKey,
  Secp256k1Program,
  SystemProgram,
  type TransactionError,
  VersionedMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { decodeBytes, invalidParams } from './wire.ts';

const TRANSACTION = 'solana_transaction::versioned::VersionedTransaction';
const MESSAGE = 'solana_message::versions::VersionedMessage';
/** Maximum size of a transaction in bytes, and of its text in each encoding. In base58, version 1 may be no larger. */
const SIZES = {
  old: { bytes: 1_232, base64: 1_644, base58: 1_683 },
  version1: { bytes: 4_096, base64: 5_464 },
};
/** The first byte of a transaction of version 1. */
const VERSION_1 = 0x81;
/** Limits of version 1. */
const MAX_KEYS = 64;
const MAX_INSTRUCTIONS = 64;
const MAX_SIGNATURES = 12;
const SIGNATURE_LAMPORTS = 5_000;
const UNITS_PER_PROGRAM = 200_000;
const UNITS_PER_BUILTIN = 3_000;
const MAX_UNITS = 1_400_000;
const MICRO = 1_000_000n;

export interface Decoded {
  /**
   * In the one canonical form: the VM ends the process if it cannot read the bytes. web3.js writes no version 1, which
   * has only one form.
   */
  bytes: Buffer;
  signature: string;
  blockhash: string;
  message: VersionedMessage;
  keys: PublicKey[];
}

/** Decodes a transaction's text. Throws -32602 if it is too long or has other characters. */
export function transactionBytes(text: string, encoding: 'base58' | 'base64'): Buffer {
  const isLarge = encoding === 'base64' && Buffer.from(text.slice(0, 4), encoding)[0] === VERSION_1;
  const max = { ...SIZES.old, ...(isLarge && SIZES.version1) };
  if (text.length > max[encoding]) {
    const limits = `(max: encoded/raw ${max[encoding]}/${max.bytes})`;
    throw invalidParams(`${encoding} encoded ${TRANSACTION} too large: ${text.length} bytes ${limits}`);
  }
  const bytes = decodeBytes(text, encoding);
  if (bytes.length <= max.bytes) return bytes;
  throw invalidParams(`decoded ${TRANSACTION} too large: ${bytes.length} bytes (max: ${max.bytes} bytes)`);
}

/** Offset of the bits of the config, each of which stands for four bytes; of two counts; and of the addresses. */
const CONFIG_AT = 4;
const INSTRUCTIONS_AT = 40;
const KEYS_AT = 41;
const ADDRESSES_AT = 42;

/** Length of a transaction of version 1, without what follows it. web3.js refuses what a validator then ignores. */
function versionOneLength(bytes: Buffer): number {
  const bits = bytes.readUInt32LE(CONFIG_AT).toString(2).replaceAll('0', '').length;
  const headers = ADDRESSES_AT + 32 * bytes.readUInt8(KEYS_AT) + 4 * bits;
  let end = headers + 4 * bytes.readUInt8(INSTRUCTIONS_AT);
  for (let at = headers, first = end; at < first; at += 4) end += bytes.readUInt8(at + 1) + bytes.readUInt16LE(at + 2);
  return end + 64 * bytes.readUInt8(1);
}

/** Reads a complete transaction that refers only to accounts it lists. Throws -32602 otherwise. */
export function decodeTransaction(given: Buffer): Decoded {
  try {
    const read = given[0] === VERSION_1 ? given.subarray(0, versionOneLength(given)) : given;
    const transaction = VersionedTransaction.deserialize(read);
    const { message, signatures } = transaction;
    requireSane(message);
    if (signatures.length !== message.header.numRequiredSignatures) throw new Error('wrong number of signatures');
    return {
      bytes: Buffer.from(message.version === 1 ? read : transaction.serialize()),
      signature: bs58.encode(signatures[0]!),
      blockhash: message.recentBlockhash,
      message,
      keys: message.staticAccountKeys,
    };
  } catch (error) {
    throw invalidParams(`failed to deserialize ${TRANSACTION}: ${(error as Error).message}`);
  }
}

/** Reads a message alone, for `getFeeForMessage`. */
export function decodeMessage(bytes: Uint8Array): VersionedMessage {
  try {
    const message = VersionedMessage.deserialize(bytes);
    requireSane(message);
    return message;
  } catch (error) {
    throw invalidParams(`failed to deserialize ${MESSAGE}: ${(error as Error).message}`);
  }
}

function requireSane(message: VersionedMessage): void {
  const { header, staticAccountKeys: keys, compiledInstructions, addressTableLookups } = message;
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  // The marketplace does not use lookup tables, and this node's index by address would lack their accounts.
  if (addressTableLookups.length > 0) throw new Error('this node has no address lookup tables');
  if (numRequiredSignatures <= numReadonlySignedAccounts) throw new Error('nobody can pay the fee');
  if (numRequiredSignatures + numReadonlyUnsignedAccounts > keys.length) throw new Error('too few accounts');
  if (new Set(keys.map(String)).size !== keys.length) throw new Error('an account is named twice');
  if (message.version === 1) {
    if (keys.length > MAX_KEYS) throw new Error('too many accounts');
    if (compiledInstructions.length > MAX_INSTRUCTIONS) throw new Error('too many instructions');
    if (numRequiredSignatures > MAX_SIGNATURES) throw new Error('too many signatures');
  }
  for (const { programIdIndex, accountKeyIndexes } of compiledInstructions) {
    if (programIdIndex === 0) throw new Error('the payer is no program');
    if (Math.max(programIdIndex, ...accountKeyIndexes) >= keys.length) throw new Error('an account is not listed');
  }
}

const BUILTINS = new Set([
  ...[SystemProgram, ComputeBudgetProgram, Ed25519Program, Secp256k1Program].map(({ programId }) => String(programId)),
  ...['BPFLoader1111111111111111111111111111111111', 'BPFLoader2111111111111111111111111111111111'],
  ...['BPFLoaderUpgradeab1e11111111111111111111111', 'LoaderV411111111111111111111111111111111111'],
  ...['Vote111111111111111111111111111111111111111', 'Secp256r1SigVerify1111111111111111111111111'],
]);
/** Their first byte is the number of signatures to check; each is paid for. */
const PRECOMPILES = new Set([
  String(Ed25519Program.programId),
  String(Secp256k1Program.programId),
  'Secp256r1SigVerify1111111111111111111111111',
]);

/** Length of each kind of compute-budget instruction; no other kind is known. */
const BUDGET_BYTES = new Map([
  [1, 5],
  [2, 5],
  [3, 9],
  [4, 5],
]);

/**
 * Throws -32602 if the compute-budget instructions are invalid: no validator accepts such a transaction. In version 1
 * they do nothing.
 */
export function requireBudget(message: VersionedMessage): void {
  if (message.version === 1) return;
  const seen = new Set<number>();
  for (const [index, { programIdIndex, data }] of message.compiledInstructions.entries()) {
    if (!message.staticAccountKeys[programIdIndex]?.equals(ComputeBudgetProgram.programId)) continue;
    const kind = data[0] ?? -1;
    if (data.length < (BUDGET_BYTES.get(kind) ?? Number.POSITIVE_INFINITY)) {
      throw invalidParams(`invalid transaction: Error processing Instruction ${index}: invalid instruction data`);
    }
    if (seen.has(kind)) {
      throw invalidParams(
        `invalid transaction: Transaction contains a duplicate instruction (${index}) that is not allowed`,
      );
    }
    seen.add(kind);
  }
}

/** The fee of a message if it lands, lamports. */
export function feeOf(message: VersionedMessage): number {
  let signatures = message.header.numRequiredSignatures;
  let units = 0;
  let limit: number | undefined;
  let price = 0n;
  for (const { programIdIndex, data } of message.compiledInstructions) {
    const program = String(message.staticAccountKeys[programIdIndex]);
    const bytes = Buffer.from(data);
    if (PRECOMPILES.has(program)) signatures += bytes[0] ?? 0;
    if (program === String(ComputeBudgetProgram.programId)) {
      if (bytes[0] === 2 && bytes.length >= 5) limit = bytes.readUInt32LE(1);
      if (bytes[0] === 3 && bytes.length >= 9) price = bytes.readBigUInt64LE(1);
    }
    units += BUILTINS.has(program) ? UNITS_PER_BUILTIN : UNITS_PER_PROGRAM;
  }
  // Version 1 names the whole priority fee.
  if (message.version === 1)
    return signatures * SIGNATURE_LAMPORTS + Number(message.transactionConfig.priorityFee ?? 0);
  const paidUnits = BigInt(Math.min(limit ?? units, MAX_UNITS));
  return signatures * SIGNATURE_LAMPORTS + Number((price * paidUnits + MICRO - 1n) / MICRO);
}

/** The VM prints errors in Rust's debug form; a validator sends them as JSON. */
export function readError(printed: string): TransactionError {
  const instruction = /err: InstructionError\((\d+), (?:Custom\((\d+)\)|(\w+))/.exec(printed);
  if (instruction) {
    const [, index, code, name] = instruction;
    return { InstructionError: [Number(index), code === undefined ? name! : { Custom: Number(code) }] };
  }
  const account = /err: (\w+) \{ account_index: (\d+) \}/.exec(printed);
  if (account) return { [account[1]!]: { account_index: Number(account[2]) } } as object;
  const index = /err: (\w+)\((\d+)\)/.exec(printed);
  if (index) return { [index[1]!]: Number(index[2]) } as object;
  return /err: (\w+)/.exec(printed)?.[1] ?? 'SanitizeFailure';
}

const SENTENCES: Record<string, string> = {
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  InvalidProgramForExecution: 'This program may not be used for executing instructions',
  MaxLoadedAccountsDataSizeExceeded: 'Transaction exceeded max loaded accounts data size cap',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  SanitizeFailure: 'Transaction failed to sanitize accounts offsets correctly',
  SignatureFailure: 'Transaction did not pass signature verification',
};
const FAILED = /^Program \w+ failed: (.*)$/;

/** An error as text for people; the logs show an instruction's error. */
export function describeError(error: TransactionError, logs: string[]): string {
  if (typeof error === 'string') return SENTENCES[error] ?? error;
  if ('InsufficientFundsForRent' in error) {
    const { account_index } = error.InsufficientFundsForRent as { account_index: number };
    return `Transaction results in an account (${account_index}) with insufficient funds for rent`;
  }
  if (!('InstructionError' in error)) return JSON.stringify(error);
  const [index, what] = error.InstructionError as [number, string | { Custom: number }];
  const said = logs.map((line) => FAILED.exec(line)?.[1]).findLast((reason) => reason !== undefined);
  const named = what === 'ProgramFailedToComplete' ? 'Program failed to complete' : (said ?? what);
  const reason = typeof what === 'string' ? named : `custom program error: 0x${what.Custom.toString(16)}`;
  return `Error processing Instruction ${index}: ${reason}`;
}

/** A landed transaction in each encoding of `getTransaction`. */
import { type VersionedMessage, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Landed, LandedMeta } from './history.ts';
import { MEMO_PROGRAMS, parseInstruction } from './instructionJson.ts';
import { CODES, RpcError } from './wire.ts';

export type TransactionEncoding = 'json' | 'base64' | 'base58' | 'jsonParsed';

export interface ShowOptions {
  encoding: TransactionEncoding;
  /** The newest version that the caller can read; undefined for legacy only. */
  maxVersion: number | undefined;
}

/** For `getTransaction`. Throws -32015 if the caller cannot read its version. */
export function showTransaction(landed: Landed, { encoding, maxVersion }: ShowOptions) {
  const { message, signatures } = readable(landed, maxVersion);
  const { returnData, ...meta } = JSON.parse(landed.meta) as LandedMeta;
  const isParsed = encoding === 'jsonParsed';
  return {
    ...(maxVersion !== undefined && { version: message.version }),
    transaction:
      encoding === 'base64' || encoding === 'base58'
        ? [encoding === 'base64' ? landed.bytes.toString('base64') : bs58.encode(landed.bytes), encoding]
        : {
            signatures: signatures.map((signature) => bs58.encode(signature)),
            message: isParsed ? parseMessage(message) : plainMessage(message),
          },
    meta: {
      ...outcomeOf(landed),
      ...meta,
      ...(isParsed && {
        innerInstructions: meta.innerInstructions?.map(({ index, instructions }) => ({
          index,
          instructions: instructions.map((instruction) => inWords(message, instruction)),
        })),
      }),
      rewards: [],
      ...(!isParsed && { loadedAddresses: { writable: [], readonly: [] } }),
      ...(returnData && { returnData }),
    },
  };
}

function readable(landed: Landed, maxVersion: number | undefined): VersionedTransaction {
  const transaction = VersionedTransaction.deserialize(landed.bytes);
  const { version } = transaction.message;
  if (version !== 'legacy' && (maxVersion === undefined || maxVersion < version)) {
    throw new RpcError(
      CODES.unsupportedVersion,
      `Transaction version (${version}) is not supported by the requesting client. Please try the request again with ` +
        `the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    );
  }
  return transaction;
}

function outcomeOf({ err }: Landed) {
  return { err, status: err === null ? { Ok: null } : { Err: err } };
}

/** The texts of its memos, each preceded by its length; null without memos. */
export function memoOf({ bytes }: Landed): string | null {
  const { staticAccountKeys, compiledInstructions } = VersionedTransaction.deserialize(bytes).message;
  const memos = compiledInstructions
    .filter(({ programIdIndex }) => MEMO_PROGRAMS.includes(String(staticAccountKeys[programIdIndex])))
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString()}`);
  return memos.length > 0 ? memos.join('; ') : null;
}

interface Instruction {
  programIdIndex: number;
  accounts: number[];
  data: string;
  stackHeight: number;
}

function instructionsOf(message: VersionedMessage): Instruction[] {
  return message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    programIdIndex,
    accounts: accountKeyIndexes,
    data: bs58.encode(data),
    stackHeight: 1,
  }));
}

/** The field that only this version has. */
function ofVersion(message: VersionedMessage) {
  if (message.version === 1) return { transactionConfig: message.transactionConfig };
  return message.version === 0 ? { addressTableLookups: [] } : {};
}

function plainMessage(message: VersionedMessage) {
  return {
    header: message.header,
    accountKeys: message.staticAccountKeys.map(String),
    recentBlockhash: message.recentBlockhash,
    instructions: instructionsOf(message),
    ...ofVersion(message),
  };
}

function inWords(message: VersionedMessage, { programIdIndex, accounts, data, stackHeight }: Instruction) {
  const keys = message.staticAccountKeys;
  const programId = String(keys[programIdIndex]);
  const named = accounts.map((index) => String(keys[index]));
  const parsed = parseInstruction(programId, named, Buffer.from(bs58.decode(data)));
  return parsed ? { ...parsed, programId, stackHeight } : { programId, accounts: named, data, stackHeight };
}

function parseKeys(message: VersionedMessage) {
  return message.staticAccountKeys.map((key, index) => ({
    pubkey: String(key),
    signer: message.isAccountSigner(index),
    writable: message.isAccountWritable(index),
    source: 'transaction',
  }));
}

function parseMessage(message: VersionedMessage) {
  return {
    accountKeys: parseKeys(message),
    recentBlockhash: message.recentBlockhash,
    instructions: instructionsOf(message).map((instruction) => inWords(message, instruction)),
    ...ofVersion(message),
  };
}

/** A transaction that has landed, as `getTransaction` shows it in each encoding. */
import { type VersionedMessage, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Landed, LandedMeta } from './history.ts';
import { CODES, RpcError } from './wire.ts';

export interface ShowOptions {
  encoding: 'json' | 'base64' | 'base58' | 'jsonParsed';
  /** The newest version that the caller can read; undefined for legacy alone. */
  maxVersion: number | undefined;
}

/** Throws -32015 where the caller cannot read its version. */
export function showTransaction(landed: Landed, { encoding, maxVersion }: ShowOptions) {
  const { message, signatures } = VersionedTransaction.deserialize(landed.bytes);
  const { version } = message;
  if (version !== 'legacy' && (maxVersion === undefined || maxVersion < version)) {
    throw new RpcError(
      CODES.unsupportedVersion,
      `Transaction version (${version}) is not supported by the requesting client. Please try the request again with ` +
        `the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    );
  }
  const { returnData, ...meta } = JSON.parse(landed.meta) as LandedMeta;
  const isParsed = encoding === 'jsonParsed';
  const { err } = landed;
  return {
    slot: landed.slot,
    blockTime: landed.blockTime,
    ...(maxVersion !== undefined && { version }),
    transaction:
      encoding === 'base64' || encoding === 'base58'
        ? [encoding === 'base64' ? landed.bytes.toString('base64') : bs58.encode(landed.bytes), encoding]
        : {
            signatures: signatures.map((signature) => bs58.encode(signature)),
            message: isParsed ? parseMessage(message) : plainMessage(message),
          },
    meta: {
      err,
      status: err === null ? { Ok: null } : { Err: err },
      ...meta,
      ...(isParsed && {
        innerInstructions: meta.innerInstructions.map(({ index, instructions }) => ({
          index,
          instructions: instructions.map((instruction) => parseInstruction(message, instruction)),
        })),
      }),
      rewards: [],
      loadedAddresses: { writable: [], readonly: [] },
      ...(returnData && { returnData }),
    },
  };
}

interface Instruction {
  programIdIndex: number;
  accounts: number[];
  data: string;
  stackHeight: number | null;
}

function instructionsOf(message: VersionedMessage): Instruction[] {
  return message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    programIdIndex,
    accounts: accountKeyIndexes,
    data: bs58.encode(data),
    stackHeight: null,
  }));
}

function plainMessage(message: VersionedMessage) {
  return {
    header: message.header,
    accountKeys: message.staticAccountKeys.map(String),
    recentBlockhash: message.recentBlockhash,
    instructions: instructionsOf(message),
    ...(message.version !== 'legacy' && { addressTableLookups: [] }),
  };
}

/** In the form that a validator gives the instructions of programs that it cannot read. */
function parseInstruction(message: VersionedMessage, { programIdIndex, accounts, data, stackHeight }: Instruction) {
  const keys = message.staticAccountKeys;
  return {
    programId: String(keys[programIdIndex]),
    accounts: accounts.map((index) => String(keys[index])),
    data,
    stackHeight,
  };
}

function parseMessage(message: VersionedMessage) {
  return {
    accountKeys: message.staticAccountKeys.map((key, index) => ({
      pubkey: String(key),
      signer: message.isAccountSigner(index),
      writable: message.isAccountWritable(index),
      source: 'transaction',
    })),
    recentBlockhash: message.recentBlockhash,
    instructions: instructionsOf(message).map((instruction) => parseInstruction(message, instruction)),
    ...(message.version !== 'legacy' && { addressTableLookups: [] }),
  };
}

/** The program's addresses and accounts in text and bytes, for what checks receipts without web3.js. */

import type { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Accounts } from '../program/accounts.ts';
import { ByteReader, type Codec, u16 } from '../program/borsh.ts';
import { constantBytes } from '../program/constants.ts';
import { idl } from '../program/idl/idl.ts';
import { createIdlCodecs } from '../program/idlCodecs.ts';
import { deriveAddress } from '../program/programAddress.ts';

/** Where the program is deployed, base58. */
export const PROGRAM: string = idl.address;

const addressText: Codec<string> = {
  type: 'pubkey',
  read: (from) => bs58.encode(from.take(32)),
  write: (value) => bs58.decode(value),
};
const { codecOf, decodeAccountData, decodeInstruction } = createIdlCodecs(addressText as Codec<unknown>);

export { decodeInstruction };

/** Fields with addresses as base58 text. */
type InText<Fields> = { [Name in keyof Fields]: Fields[Name] extends PublicKey ? string : Fields[Name] };
export type RecordFields = InText<Accounts['ExecutionRecord']>;

/** An account's fields. Throws RangeError when the data is not of an account of this name. */
export function decodeInText<Name extends keyof Accounts>(name: Name, data: Uint8Array): InText<Accounts[Name]> {
  return decodeAccountData(name, data) as InText<Accounts[Name]>;
}

/** A record's fields as a leaf is the hash of them. Throws RangeError where they are of no record. */
export function decodeFields(fields: Uint8Array): RecordFields {
  const bytes = new ByteReader(fields);
  const record = codecOf('ExecutionRecord').read(bytes) as RecordFields;
  if (bytes.left > 0) throw new RangeError(`a record has ${bytes.left} bytes too many`);
  return record;
}

const derive = (seed: string, ...rest: Uint8Array[]): string =>
  bs58.encode(deriveAddress([constantBytes(seed), ...rest], bs58.decode(PROGRAM))[0]);

export const recordAddress = (executionId: Uint8Array): string => derive('EXECUTION_SEED', executionId);
export const escrowAddress = (record: string): string => derive('ESCROW_SEED', bs58.decode(record));
export const treasuryAddress = (): string => derive('TREASURY_SEED');
export const archiveAddress = (index: number): string => derive('ARCHIVE_SEED', u16.write(index));

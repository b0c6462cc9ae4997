/** The program's addresses and accounts as text and bytes, to check receipts without web3.js. */

import bs58 from 'bs58';
import type { AccountName } from '../program/accounts.ts';
import { type Codec, u16 } from '../program/borsh.ts';
import { constantBytes } from '../program/constants.ts';
import { idl } from '../program/idl/idl.ts';
import { createIdlCodecs } from '../program/idlCodecs.ts';
import type { StructOf } from '../program/idlValues.ts';
import { deriveAddress } from '../program/programAddress.ts';

/** Address of the program, base58. */
export const PROGRAM: string = idl.address;

const addressText: Codec<string> = {
  read: (from) => bs58.encode(from.take(32)),
  write: (value) => bs58.decode(value),
};
const { decodeAccountData, decodeFields, decodeInstruction } = createIdlCodecs(addressText as Codec<unknown>);

export { decodeInstruction };

/** Fields with addresses as base58 text. */
type InText<Name extends AccountName> = StructOf<Name, string>;
export type RecordFields = InText<'ExecutionRecord'>;
export type DisputeFields = InText<'Dispute'>;

/** Decodes an account's fields. Throws RangeError if the data are not an account of this name. */
export function decodeInText<Name extends AccountName>(name: Name, data: Uint8Array): InText<Name> {
  return decodeAccountData(name, data) as InText<Name>;
}

/** Decodes the record's fields that a leaf hashes. Throws RangeError if they are not a record's fields. */
export const decodeRecordFields = (fields: Uint8Array): RecordFields =>
  decodeFields('ExecutionRecord', fields) as RecordFields;

const derive = (seed: string, ...rest: Uint8Array[]): string =>
  bs58.encode(deriveAddress([constantBytes(seed), ...rest], bs58.decode(PROGRAM))[0]);

export const recordAddress = (executionId: Uint8Array): string => derive('EXECUTION_SEED', executionId);
export const disputeAddress = (record: string): string => derive('DISPUTE_SEED', bs58.decode(record));
export const escrowAddress = (record: string): string => derive('ESCROW_SEED', bs58.decode(record));
export const treasuryAddress = (): string => derive('TREASURY_SEED');
export const unclaimedAddress = (): string => derive('UNCLAIMED_SEED');
export const archiveAddress = (index: number): string => derive('ARCHIVE_SEED', u16.write(index));

/** The program's addresses and accounts as text and bytes, for readers without web3.js: checks of receipts, web pages. */

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

export type { AccountName };
export { decodeInstruction };
/** Fields with addresses as base58 text. */
export type AccountFields<Name extends AccountName> = StructOf<Name, string>;
export type RecordFields = AccountFields<'ExecutionRecord'>;
export type DisputeFields = AccountFields<'Dispute'>;
export type GrantFields = AccountFields<'KeyGrant'>;

/** Decodes an account's fields. Throws RangeError if the data are not an account of this name. */
export function decodeInText<Name extends AccountName>(name: Name, data: Uint8Array): AccountFields<Name> {
  return decodeAccountData(name, data) as AccountFields<Name>;
}

/** The fields of an account; null if the program owns none there, although anyone may have sent lamports to the address. */
export function decodeOwnInText<Name extends AccountName>(
  name: Name,
  account: { owner: string; data: Uint8Array } | null | undefined,
): AccountFields<Name> | null {
  return account?.owner === PROGRAM ? decodeInText(name, account.data) : null;
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
export const listingAddress = (creator: string, listingId: Uint8Array): string =>
  derive('LISTING_SEED', bs58.decode(creator), listingId);
export const spenderAddress = (wallet: string): string => derive('SPENDER_SEED', bs58.decode(wallet));
export const grantAddress = (wallet: string, keyId: Uint8Array): string =>
  derive('GRANT_SEED', bs58.decode(wallet), keyId);
export const archiveAddress = (index: number): string => derive('ARCHIVE_SEED', u16.write(index));

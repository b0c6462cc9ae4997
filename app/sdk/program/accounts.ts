/**
 * Reads the program's accounts: bytes in, typed values out. Layouts and types come from the generated IDL.
 * programs/marketplace/src/state documents the fields. 64-bit integers become bigint, 32-byte keys PublicKey, other
 * byte arrays Uint8Array, and enums lower-camel-case names.
 */
import type { PublicKey } from '@solana/web3.js';
import { ByteReader } from './borsh.ts';
import { idl, type LiteralIdl } from './idl/idl.ts';
import { codecOfType, decodeAccountData, discriminatorOf } from './idlCodec.ts';
import { fieldsOf, variantsOf } from './idlCodecs.ts';
import type { EnumOf, StructOf } from './idlValues.ts';
import { KeptAddress } from './pubkey.ts';

/** Address of the program, the same on every cluster. */
export const PROGRAM_ID: PublicKey = new KeptAddress(idl.address);

export type AccountName = LiteralIdl['accounts'][number]['name'];
/** The fields of each account. */
export type Accounts = { [Name in AccountName]: StructOf<Name> };

export type Config = Accounts['Config'];
export type CreatorProfile = Accounts['CreatorProfile'];
export type AgentListing = Accounts['AgentListing'];
export type SigningKey = Accounts['SigningKey'];
export type CreatorCollateral = Accounts['CreatorCollateral'];
export type KeyGrant = Accounts['KeyGrant'];
export type ExecutionRecord = Accounts['ExecutionRecord'];
export type Deposit = Accounts['Deposit'];
export type Dispute = Accounts['Dispute'];
export type Archive = Accounts['Archive'];
/** What the leaf of an unclaimed refund says. */
export type UnclaimedRefund = StructOf<'UnclaimedRefund'>;
export type PendingChange = Accounts['PendingChange'];

export type CollateralTier = StructOf<'CollateralTier'>;
/** The fields that a proposed change can set. Null and empty fields stay unchanged. */
export type ConfigChange = StructOf<'ConfigChange'>;
export type ListingStatus = EnumOf<'ListingStatus'>;
/** Status of an ExecutionRecord. The `ExecutionStatus` of the REST API differs. */
export type RecordStatus = EnumOf<'ExecutionStatus'>;
export type DisputeOutcome = EnumOf<'DisputeOutcome'>;

/** The relay authorities in use. They may settle and refund, and open executions for API keys. */
export function relayAuthoritiesOf(config: Config): PublicKey[] {
  return config.relayAuthorities.slice(0, config.relayAuthorityCount);
}

/** True while new executions are refused: the admin or the guardian has paused them. */
export function areOpensPaused(config: Pick<Config, 'adminPaused' | 'guardianPaused'>): boolean {
  return config.adminPaused || config.guardianPaused;
}

/** Decodes an account's fields. Throws RangeError if the data are not an account of this name. */
export function decodeAccount<Name extends AccountName>(name: Name, data: Uint8Array): Accounts[Name] {
  return decodeAccountData(name, data) as Accounts[Name];
}

/**
 * The account, if the program owns it; else null. Anyone can send lamports to any address, and they make an account
 * there that the program does not own: for the program, such an address is empty.
 */
export function ownAccount<Account extends { owner: PublicKey }>(account: Account | null | undefined): Account | null {
  return account?.owner.equals(PROGRAM_ID) ? account : null;
}

/** The fields of an account; null if the program owns none there. Throws RangeError if it is of another name. */
export function decodeOwn<Name extends AccountName>(
  name: Name,
  account: { owner: PublicKey; data: Uint8Array } | null | undefined,
): Accounts[Name] | null {
  const own = ownAccount(account);
  return own && decodeAccount(name, own.data);
}

/** The first 8 bytes of every account of this name. */
export function accountDiscriminator(name: AccountName): Uint8Array {
  return discriminatorOf(name);
}

/** Byte offsets of an account's fields, for `memcmp` filters. Valid for fields that follow no text or list. */
const offsetsOf = <Name extends AccountName>(name: Name): Record<keyof Accounts[Name], number> =>
  layoutOf(name).offsets;

/** The offsets, and the size of an account without texts and lists. */
function layoutOf<Name extends AccountName>(name: Name) {
  const zeros = new Uint8Array(1_024);
  const bytes = new ByteReader(zeros, accountDiscriminator(name).length);
  const offsets = Object.entries(fieldsOf(name)).map(([field, type]) => {
    const offset = zeros.length - bytes.left;
    codecOfType(type).read(bytes);
    return [field, offset];
  });
  return {
    offsets: Object.fromEntries(offsets) as Record<keyof Accounts[Name], number>,
    size: zeros.length - bytes.left,
  };
}

/** The byte of each variant of an enum. */
const bytesOfVariants = <Variant extends string>(name: string) =>
  Object.fromEntries(variantsOf(name).map((variant, byte) => [variant, byte])) as Record<Variant, number>;

export const RECORD_OFFSETS = offsetsOf('ExecutionRecord');
export const LISTING_OFFSETS = offsetsOf('AgentListing');
/** Bytes of a record's account, for its refundable deposit. */
export const RECORD_SIZE = layoutOf('ExecutionRecord').size;
/** Bytes of a grant's account, for its refundable deposit. */
export const GRANT_SIZE = layoutOf('KeyGrant').size;
/** Bytes of a dispute's account, for its refundable deposit. */
export const DISPUTE_SIZE = layoutOf('Dispute').size;

export const RECORD_STATUS_BYTE = bytesOfVariants<RecordStatus>('ExecutionStatus');

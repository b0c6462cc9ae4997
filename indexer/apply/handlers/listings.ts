/** Events of listings and their collateral. */
import type { PublicKey } from '@solana/web3.js';
import type { ListingStatusName } from '../../queries/tables.ts';
import { base58, hex, uri } from '../columns.ts';
import type { Unit } from '../unit.ts';
import { changeRow, versionKey, writeRow } from '../write.ts';
import type { Handlers } from './handler.ts';

const LISTING_STATUS: readonly ListingStatusName[] = ['active', 'paused', 'delisted'];

export const listings = {
  AgentListed(unit, data, { slot }) {
    writeVersion(unit, data, slot);
    writeRow(unit, 'listings', {
      listing: base58(data.listing),
      creator: base58(data.creator),
      listing_id: hex(data.listingId),
      signing_key: base58(data.signingKey),
      payout: base58(data.payout),
      price: data.price,
      timeout_seconds: BigInt(data.timeoutSeconds),
      min_timeout_seconds: BigInt(data.minTimeoutSeconds),
      tag_mask: BigInt(data.tagMask),
      status: 'active',
      listing_version: BigInt(data.listingVersion),
      metadata_hash: hex(data.metadataHash),
      metadata_uri: uri(data.metadataUri),
      deposited: data.deposited,
      slashed: 0n,
      forfeited: 0n,
      listed_at: data.listedAt,
      returnable_at: null,
      collateral_returned: 0n,
      slot,
    });
  },

  ListingUpdated(unit, data, { slot }) {
    writeVersion(unit, data, slot);
    changeRow(unit, 'listings', base58(data.listing), {
      payout: base58(data.payout),
      price: data.price,
      timeout_seconds: BigInt(data.timeoutSeconds),
      min_timeout_seconds: BigInt(data.minTimeoutSeconds),
      tag_mask: BigInt(data.tagMask),
      listing_version: BigInt(data.listingVersion),
      metadata_hash: hex(data.metadataHash),
      metadata_uri: uri(data.metadataUri),
      slot,
    });
  },

  ListingStatusChanged(unit, data, { slot }) {
    changeRow(unit, 'listings', base58(data.listing), { status: listingStatus(data.status), slot });
  },

  SigningKeyRotated(unit, data, { slot }) {
    changeRow(unit, 'listings', base58(data.listing), { signing_key: base58(data.signingKey), slot });
  },

  AgentDelisted(unit, data, { slot }) {
    changeRow(unit, 'listings', base58(data.listing), { status: 'delisted', returnable_at: data.returnableAt, slot });
  },

  CollateralToppedUp(unit, data, { slot }) {
    changeRow(unit, 'listings', base58(data.listing), { deposited: data.deposited, slashed: data.slashed, slot });
  },

  CollateralReturned(unit, data, { slot }) {
    changeRow(unit, 'listings', base58(data.listing), { forfeited: data.forfeited, collateral_returned: 1n, slot });
  },

  ForfeitsSwept(unit, data, { slot }) {
    changeRow(unit, 'listings', base58(data.listing), { forfeited: 0n, slot });
  },
} satisfies Partial<Handlers>;

type Version = { listing: PublicKey; listingVersion: number; timeoutSeconds: number };

/** Stored even if the listing's row already shows a later version. */
function writeVersion(unit: Unit, { listing, listingVersion, timeoutSeconds }: Version, slot: bigint): void {
  const version = versionKey(base58(listing), listingVersion);
  if (unit.rows.listing_versions.get(version)) return;
  unit.rows.listing_versions.put({ version, timeout_seconds: BigInt(timeoutSeconds), slot });
}

/** The status for an event's number. Throws RangeError if this version does not know it. */
export function listingStatus(byte: number): ListingStatusName {
  const status = LISTING_STATUS[byte];
  if (!status) throw new RangeError(`unknown listing status ${byte}`);
  return status;
}

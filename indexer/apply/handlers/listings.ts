/** Events of listings and their collateral. */
import type { PublicKey } from '@solana/web3.js';
import type { ListingStatusName } from '../../queries/tables.ts';
import { base58 } from '../columns.ts';
import { listingRow, termColumns } from '../rows.ts';
import type { Unit } from '../unit.ts';
import { changeRow, versionKey, writeRow } from '../write.ts';
import type { Handlers } from './handler.ts';

const LISTING_STATUS: readonly ListingStatusName[] = ['active', 'paused', 'delisted'];

export const listings = {
  AgentListed(unit, data, { slot }) {
    writeVersion(unit, data, slot);
    const collateral = { deposited: data.deposited, slashed: 0n, forfeited: 0n, returnableAt: 0n, returned: false };
    writeRow(unit, 'listings', listingRow(data.listing, { ...data, status: 'active' }, collateral, slot));
  },

  ListingUpdated(unit, data, { slot }) {
    writeVersion(unit, data, slot);
    changeRow(unit, 'listings', base58(data.listing), { ...termColumns(data), slot });
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

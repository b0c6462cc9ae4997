/** Events of disputes, and their effects on the execution and the listing. */
import type { PublicKey } from '@solana/web3.js';
import { formatUuid } from '../../../app/sdk/receipt/receipt.ts';
import type { DisputeRow } from '../../queries/tables.ts';
import { base58, hex, optionalHex, uri } from '../columns.ts';
import { UNDECIDED } from '../rows.ts';
import { changeRow, endDispute, writeDispute } from '../write.ts';
import type { Handlers } from './handler.ts';
import { listingStatus } from './listings.ts';

export const disputes = {
  DisputeOpened(unit, data, { slot }) {
    writeDispute(unit, {
      dispute: base58(data.dispute),
      record: base58(data.record),
      execution_id: formatUuid(data.executionId),
      listing: base58(data.listing),
      caller: base58(data.caller),
      evidence_hash: hex(data.evidenceHash),
      evidence_uri: uri(data.evidenceUri),
      ...UNDECIDED,
      bond: data.bond,
      bond_paid: data.bond,
      opened_at: data.openedAt,
      slot,
    });
  },

  DisputeResolved(unit, data, { slot }) {
    endDispute(unit, namesOf(data), data.upheld ? 'upheld' : 'rejected', (row) => ({
      amount_to_caller: data.amountToCaller,
      amount_slashed: data.amountSlashed,
      owed: data.owed,
      reason_hash: optionalHex(data.reasonHash),
      resolved_at: data.resolvedAt,
      ...bondAfter(row, data.bond),
      slot: slotOfEnd(row, slot),
    }));
    changeRow(unit, 'listings', base58(data.listing), {
      deposited: data.deposited,
      slashed: data.slashed,
      forfeited: data.forfeited,
      status: listingStatus(data.listingStatus),
      slot,
    });
  },

  DisputeAwardClaimed(unit, data, { slot }) {
    changeRow(unit, 'disputes', base58(data.dispute), { owed: 0n, slot });
  },

  DisputeLapsed(unit, data, { slot }) {
    endDispute(unit, namesOf(data), 'lapsed', (row) => ({
      resolved_at: data.resolvedAt,
      ...bondAfter(row, data.bond),
      slot: slotOfEnd(row, slot),
    }));
  },

  DisputeClosed(unit, data, { slot }) {
    changeRow(unit, 'disputes', base58(data.dispute), { closed: 1n, slot });
  },
} satisfies Partial<Handlers>;

const namesOf = ({ dispute, record }: { dispute: PublicKey; record: PublicKey }) => ({
  dispute: base58(dispute),
  record: base58(record),
});

/**
 * The part of the bond left after an outcome: the receiver could not take it, or the account needs it for increased
 * rent. With what was paid out, it is what was paid in.
 */
function bondAfter(row: DisputeRow, paidOut: bigint): Pick<DisputeRow, 'bond' | 'bond_paid'> {
  // When the event is applied again, the row already has the outcome and the remaining bond.
  const bond = row.outcome === 'open' ? row.bond - paidOut : row.bond;
  return { bond, bond_paid: row.bond_paid ?? bond + paidOut };
}

/** No dispute is open again, so an outcome that is applied late is newer than any open state. */
function slotOfEnd(row: DisputeRow, slot: bigint): bigint {
  return row.outcome === 'open' && row.slot > slot ? row.slot : slot;
}

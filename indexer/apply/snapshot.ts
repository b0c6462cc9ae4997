/**
 * Writes the account readings of a transaction, and the effects of its instructions on accounts that no longer exist.
 */
import type { PublicKey } from '@solana/web3.js';
import { constants } from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import { least } from '../../app/sdk/wire/amounts.ts';
import { splitPrice } from '../queries/record.ts';
import type { ListingRow } from '../queries/tables.ts';
import { base58, hex, optionalHex, uri } from './columns.ts';
import type { Position } from './handlers/handler.ts';
import { type AccountRows, claimOf, type GoneAccount } from './readings.ts';
import { PREPARED, UNDECIDED } from './rows.ts';
import type { Unit } from './unit.ts';
import {
  changeRow,
  EXPIRED,
  endDispute,
  endExecution,
  MissingRow,
  reportUnread,
  writeDeposit,
  writeDispute,
  writeExecution,
  writeRow,
  writeUnread,
} from './write.ts';

/** The reason of a record's refund at this time; null if the transaction did not refund it. */
type ReasonOf = (record: string, refundedAt: bigint, refundAt: bigint) => bigint | null;

/** What only a whole snapshot shows. */
interface Shown {
  reasonOf: ReasonOf;
  /** The listings' rows before this snapshot, which may be of a later time. */
  listings: ReadonlyMap<string, ListingRow | null>;
}

export function writeSnapshot(unit: Unit, snapshot: AccountRows, at: Position): void {
  // The relays known before this snapshot, which may be of a later time.
  const relays = unit.rows.configs.any()?.relay_authorities ?? snapshot.configs[0]?.relay_authorities ?? '';
  const reasonOf: ReasonOf = (record, refundedAt, refundAt) => {
    const refund = snapshot.refunds.find((candidate) => candidate.record === record);
    if (!refund) return null;
    // The program accepts a reason only from a relay, and before `refund_at` only a relay can refund. A refund by
    // anyone else is an expiry.
    return relays.includes(`"${refund.authority}"`) || refundedAt < refundAt ? refund.reason : EXPIRED;
  };
  const disputed = snapshot.gone.flatMap(({ kind, accounts }) => (kind === 'dispute' && accounts.listing) || []);
  const listings = new Map(disputed.map((listing) => [listing, unit.rows.listings.get(listing)]));
  for (const row of snapshot.configs) writeRow(unit, 'configs', row);
  for (const row of snapshot.creators) writeRow(unit, 'creators', row);
  for (const row of snapshot.listings) writeRow(unit, 'listings', row);
  for (const row of snapshot.grants) writeRow(unit, 'grants', row);
  for (const row of snapshot.executions) {
    const refundedAt = row.status === 'refunded' ? row.settled_at : null;
    const reason = refundedAt === null ? null : reasonOf(row.record, refundedAt, row.refund_at);
    writeExecution(unit, { ...row, reason });
  }
  for (const row of snapshot.deposits) writeDeposit(unit, row);
  for (const row of snapshot.disputes) writeDispute(unit, row);
  for (const row of snapshot.archives) writeRow(unit, 'archives', row);
  for (const gone of snapshot.gone)
    passOverGone(unit, at.slot, () => writeGone(unit, gone, at, { reasonOf, listings }));
}

/** Accounts were read before, so an account without a row no longer exists. It is recorded as unread. */
export function passOverGone(unit: Unit, slot: bigint, write: () => void): void {
  for (;;) {
    try {
      write();
      return;
    } catch (error) {
      if (!(error instanceof MissingRow)) throw error;
      writeUnread(unit, { address: error.address, slot });
    }
  }
}

/** Applies an instruction to an account that cannot be read any more, as far as the instruction shows its effect. */
function writeGone(unit: Unit, gone: GoneAccount, at: Position, { reasonOf, listings }: Shown): void {
  if (gone.kind === 'grant') writeGoneGrant(unit, gone, at);
  else if (gone.kind === 'record') writeGoneRecord(unit, gone, at, reasonOf);
  else if (gone.kind === 'deposit') writeGoneDeposit(unit, gone, at);
  else writeGoneDispute(unit, gone, at, listings);
}

function writeGoneGrant(unit: Unit, { instruction, address }: GoneAccount, { slot }: Position): void {
  if (instruction === 'close_grant') changeRow(unit, 'grants', address, { revoked: 1n, closed: 1n, slot });
  else writeUnread(unit, { address, slot });
}

/** The arguments contain all fields of the account except its times. These come from the block. */
function writeGoneDeposit(unit: Unit, gone: GoneAccount, at: Position): void {
  const { instruction, address, accounts, args, time } = gone;
  if (instruction === 'prepare_deposit') {
    writeRow(unit, 'deposits', {
      deposit: address,
      caller: base58(args.caller as PublicKey),
      rent_sponsor: accounts.rent_sponsor ?? '',
      price: String(args.price),
      service_fee: args.serviceFee as bigint,
      prepared_at: time,
      expires_at: time + BigInt(constants.depositSeconds),
      ...PREPARED,
      slot: at.slot,
    });
    return;
  }
  const status = instruction === 'open_execution_from_deposit' ? 'opened' : 'refunded';
  const { signature: end_signature, slot } = at;
  changeRow(unit, 'deposits', address, { status, ended_at: time, closed: 1n, end_signature, slot });
}

function writeGoneRecord(unit: Unit, gone: GoneAccount, at: Position, reasonOf: ReasonOf): void {
  const { instruction, address, args, time } = gone;
  const { slot } = at;
  const known = unit.rows.executions.get(address);
  const openedAt = known?.opened_at ?? 0n;
  // A slot's time may differ by a second from the clock that the program read.
  const settledAt = time > openedAt ? time : openedAt;
  switch (instruction) {
    case 'settle_execution':
      endExecution(unit, address, at, null, {
        status: 'completed',
        result_hash: hex(args.resultHash as Uint8Array),
        execution_time_ms: BigInt(args.executionTimeMs as number),
        settled_at: settledAt,
        ...(known && splitPrice(known.price, known.fee_bps)),
      });
      break;
    case 'refund_execution':
    case 'move_unclaimed_refund': {
      const reason = reasonOf(address, settledAt, known?.refund_at ?? 0n);
      endExecution(unit, address, at, reason, { status: 'refunded', settled_at: settledAt });
      break;
    }
    case 'close_execution':
      changeRow(unit, 'executions', address, { closed: 1n, slot });
      break;
    default: {
      // An open. When a deposit pays, the common arguments of all opens are in `open`.
      const { executionId } = (args.open ?? args) as { executionId: Uint8Array };
      writeUnread(unit, { address, slot });
      reportUnread(unit, address, {
        execution_id: formatUuid(executionId),
        open_signature: at.signature,
        opened_slot: slot,
        deposit: gone.accounts.deposit ?? null,
      });
    }
  }
}

/** A closed dispute owes nothing and holds no bond. */
function writeGoneDispute(unit: Unit, gone: GoneAccount, at: Position, listings: Shown['listings']): void {
  const { slot } = at;
  const { instruction, address, args, time } = gone;
  switch (instruction) {
    case 'open_dispute':
    case 'open_dispute_with_proof': {
      const { record = '' } = gone.accounts;
      const claim = claimOf(args);
      const execution = unit.rows.executions.get(record);
      if (!execution) {
        writeUnread(unit, { address, slot });
        break;
      }
      writeDispute(unit, {
        dispute: address,
        record,
        execution_id: execution.execution_id,
        listing: execution.listing,
        caller: execution.caller,
        evidence_hash: hex(claim.evidenceHash),
        evidence_uri: uri(claim.evidenceUri),
        ...UNDECIDED,
        bond: 0n,
        bond_paid: null,
        opened_at: time,
        slot,
      });
      break;
    }
    case 'resolve_dispute': {
      const amount = args.amount as bigint;
      const price = priceOf(unit, address);
      const before = listings.get(gone.accounts.listing ?? '') ?? null;
      const isBefore = before !== null && before.slot < slot && gone.isOnlyChange && !hasGap(unit, before.slot, at);
      endDispute(unit, { dispute: address }, args.upheld ? 'upheld' : 'rejected', () => ({
        amount_to_caller: amount === 0n ? 0n : price && least(amount, price),
        amount_slashed: slashOf(amount, price, isBefore ? before : null),
        reason_hash: optionalHex(args.reasonHash as Uint8Array),
        resolved_at: time,
        owed: 0n,
        bond: 0n,
        slot,
      }));
      break;
    }
    case 'lapse_dispute':
      endDispute(unit, { dispute: address }, 'lapsed', () => ({ resolved_at: time, bond: 0n, slot }));
      break;
    case 'claim_dispute_award':
      changeRow(unit, 'disputes', address, { owed: 0n, slot });
      break;
    default:
      changeRow(unit, 'disputes', address, { closed: 1n, slot });
  }
}

/** The price of a dispute's execution; null if either is unknown. */
function priceOf({ rows }: Unit, dispute: string): bigint | null {
  const disputed = rows.disputes.get(dispute);
  return (disputed && rows.executions.get(disputed.record)?.price) ?? null;
}

/** True if an unread transaction since this slot may have changed the collateral before this one. */
const hasGap = ({ gaps }: Unit, since: bigint, { signature, slot }: Position): boolean =>
  gaps.some((gap) => gap.slot >= since && gap.slot <= slot && gap.signature !== signature);

/**
 * The part of an amount that was taken from the available collateral. Earlier forfeits add what is missing, up to the
 * price: more than the price was available as a whole. Otherwise the listing's row from before shows what was available.
 * Null if that is unknown.
 */
function slashOf(amount: bigint, price: bigint | null, before: ListingRow | null): bigint | null {
  if (amount === 0n || (price !== null && amount > price)) return amount;
  return before && least(amount, before.deposited - before.slashed);
}

/**
 * Writes rows of the index, whole or in part, from events and from accounts. A row is replaced only by a state that is
 * not older. Changing a missing row throws MissingRow, unless its account is known to be unread.
 */
import type { PublicKey } from '@solana/web3.js';
import { type UnclaimedLeaf, unclaimedLeaf, unclaimedOf } from '../../app/sdk/program/archive.ts';
import type { EventData, MarketplaceEvent } from '../../app/sdk/program/eventFields.ts';
import { findRefundClaim, REFUND_REASONS, type UnclaimedRefund } from '../../app/sdk/program/program.ts';
import { recordStatus } from '../queries/record.ts';
import type {
  DepositRow,
  DisputeOutcomeName,
  DisputeRow,
  ExecutionRow,
  UnclaimedRefundRow,
  UnreadRow,
} from '../queries/tables.ts';
import { base58, hex } from './columns.ts';
import type { Position } from './handlers/handler.ts';
import type { StoredName, StoredRow } from './stored.ts';
import type { Unit } from './unit.ts';

/** Tables whose rows show an account at a slot. */
type AccountTable = Exclude<
  StoredName,
  'cursor' | 'archive_leaves' | 'unclaimed_refunds' | 'unread_accounts' | 'listing_versions'
>;
/** Some columns of a row, and the slot of the state that they show. */
type Change<Row> = Partial<Row> & { slot: bigint };

/** An event is about a missing row: the node left out the transaction that created it. */
export class MissingRow extends Error {
  constructor(
    table: string,
    /** Address of the row's account. */
    readonly address: string,
  ) {
    super(`${table} has no row of ${address}`);
  }
}

export function writeRow<Table extends AccountTable>(unit: Unit, table: Table, row: StoredRow<Table>): void {
  const rows = unit.rows[table];
  const known = rows.get(rows.keyOf(row));
  if (!known || known.slot <= row.slot) rows.put(row);
}

/** The change may be a function of the present row. */
export function changeRow<Table extends AccountTable>(
  unit: Unit,
  table: Table,
  key: string,
  change: Change<StoredRow<Table>> | ((row: StoredRow<Table>) => Change<StoredRow<Table>>),
): void {
  const rows = unit.rows[table];
  const known = rows.get(key);
  // Leaving it unchanged is right only if the row is newer, or if there could be none.
  if (!known) {
    requireKnown(unit, table, key);
    return;
  }
  const changed = typeof change === 'function' ? change(known) : change;
  if (known.slot <= changed.slot) rows.put({ ...known, ...changed });
}

/** The key of a listing's version. */
export function versionKey(listing: string, version: bigint | number): string {
  return `${listing} ${version}`;
}

/**
 * Writes an execution's state; its id never recurs. Facts that never change (signatures, position, reason, disputes) are
 * only added, whether event or account comes first.
 */
export function writeExecution(unit: Unit, row: ExecutionRow): void {
  const { executions, listings } = unit.rows;
  const known = executions.get(row.record);
  const isNewer = !known || known.slot <= row.slot;
  const base = isNewer ? row : known;
  const listing = listings.get(row.listing);
  const version = unit.rows.listing_versions.get(versionKey(row.listing, row.listing_version));
  // If no event gave the timeout of this version, take the listing's. A later reading has another version, so its
  // timeout is not used.
  const shown = listing?.listing_version === row.listing_version ? listing.timeout_seconds : null;
  const timeout = version?.timeout_seconds ?? shown;
  const isDisputed = known?.dispute_count || unit.outcomes.has(row.record);
  const { open_signature, opened_slot, open_index } = placeOf(unit, known, row);
  // Naming each field is many times cheaper than spreading the changes into a copy.
  executions.put({
    ...base,
    status: statusOf(unit, base, known),
    reason: known?.reason ?? row.reason,
    end_signature: known?.end_signature ?? row.end_signature,
    deposit: known?.deposit ?? row.deposit,
    dispute_count: isDisputed ? 1n : 0n,
    listing_timeout_seconds: known?.listing_timeout_seconds ?? timeout,
    open_signature,
    opened_slot,
    open_index,
  });
}

/** The status of a paid execution with a dispute. */
export const DISPUTED_STATUS = {
  open: 'disputed',
  upheld: 'dispute_upheld',
  rejected: 'completed',
  lapsed: 'completed',
} as const satisfies Record<DisputeOutcomeName, ExecutionRow['status']>;

/**
 * The status of a row with this record, in view of its dispute. The record does not show a dispute, so without the
 * dispute's row the status that is known stays.
 */
function statusOf(unit: Unit, base: ExecutionRow, known: ExecutionRow | null): ExecutionRow['status'] {
  if (recordStatus(base.status) !== 'completed') return base.status;
  const outcome = unit.outcomes.get(base.record);
  if (outcome) return DISPUTED_STATUS[outcome];
  return known && recordStatus(known.status) === 'completed' ? known.status : base.status;
}

type Place = Pick<ExecutionRow, 'open_signature' | 'opened_slot' | 'open_index'>;

/** The transaction that opened the execution, and its position in the slot, if not known yet. */
function placeOf(unit: Unit, known: ExecutionRow | null, row: ExecutionRow): Place {
  if (known && known.opened_slot !== null) return known;
  const { open_signature, opened_slot: slot } = row;
  if (open_signature === null || slot === null) return { open_signature: null, opened_slot: null, open_index: null };
  const open_index = unit.opened.get(slot) ?? 0n;
  unit.opened.set(slot, open_index + 1n);
  return { open_signature, opened_slot: slot, open_index };
}

/** Writes the settle or refund of an open execution at `settled_at`. `reason` is for refunds only. */
export function endExecution(
  unit: Unit,
  record: string,
  at: { signature: string; slot: bigint },
  reason: bigint | null,
  state: Partial<ExecutionRow> & { settled_at: bigint },
): void {
  const { executions } = unit.rows;
  const known = executions.get(record);
  if (!known) requireKnown(unit, 'executions', record);
  else {
    const row = { ...known };
    if (known.slot <= at.slot) Object.assign(row, state, { slot: at.slot });
    // No execution is open again, so an end that is applied late is newer than any open state.
    else if (known.status === 'open') Object.assign(row, state);
    row.reason ??= reason;
    row.end_signature ??= at.signature;
    row.status = statusOf(unit, row, known);
    executions.put(row);
  }
  reportUnread(unit, record, { end_signature: at.signature });
}

/** The reason of a refund that anyone but a relay made. */
export const EXPIRED = BigInt(REFUND_REASONS.indexOf('expired'));

/**
 * Writes that a refund became a leaf, by which its caller claims it. A leaf never changes. If its claim was applied first,
 * the row has all but the transaction that added the leaf.
 */
export function writeUnclaimed(unit: Unit, event: MarketplaceEvent, { signature, slot }: Position): void {
  const found = unclaimedOf(event);
  if (!found) return;
  const { refund, leaf } = found;
  changeRow(unit, 'archives', base58(leaf.archive), { leaf_count: BigInt(leaf.leafIndex + 1), slot });
  const known = unit.rows.unclaimed_refunds.get(claimOf(leaf));
  if (known && known.signature !== null) return;
  unit.rows.unclaimed_refunds.put({ ...(known ?? unclaimedRow(refund, leaf)), signature, slot });
}

/** Writes that an unclaimed refund was claimed. */
export function writeClaim(unit: Unit, data: EventData<'RefundClaimed'>, { slot }: Position): void {
  const known = unit.rows.unclaimed_refunds.get(base58(data.claim));
  const row = known ?? { ...unclaimedRow(data.refund, data), slot };
  unit.rows.unclaimed_refunds.put({ ...row, claimed_at: data.claimedAt });
}

const unclaimedRow = (
  refund: UnclaimedRefund,
  leaf: Pick<UnclaimedLeaf, 'tree' | 'leafIndex'>,
): Omit<UnclaimedRefundRow, 'slot'> => ({
  claim: claimOf(leaf),
  tree: base58(leaf.tree),
  leaf_index: BigInt(leaf.leafIndex),
  leaf: hex(unclaimedLeaf(refund)),
  source: base58(refund.source),
  caller: base58(refund.caller),
  amount: refund.amount,
  unclaimed_at: refund.unclaimedAt,
  signature: null,
  claimed_at: null,
});

/** The key of an unclaimed refund's row: the address of the account that forbids a second claim. */
export const claimOf = ({ tree, leafIndex }: { tree: PublicKey; leafIndex: number }): string =>
  base58(findRefundClaim(tree, leafIndex));

/** Writes a deposit from its account. The account does not show a refund that could not close it. */
export function writeDeposit(unit: Unit, row: DepositRow): void {
  const known = unit.rows.deposits.get(row.deposit);
  const { status, ended_at, end_signature } = known?.prepared_at === row.prepared_at ? known : row;
  writeRow(unit, 'deposits', { ...row, status, ended_at, end_signature });
}

/** Writes a dispute's state. Its URI, the paid bond, and the fact that it existed, are only added. */
export function writeDispute(unit: Unit, row: DisputeRow): void {
  const { disputes } = unit.rows;
  const known = disputes.get(row.dispute);
  const base = !known || known.slot <= row.slot ? row : known;
  disputes.put({
    ...base,
    evidence_uri: known?.evidence_uri ?? row.evidence_uri,
    bond_paid: known?.bond_paid ?? row.bond_paid,
  });
  showOutcome(unit, row.record, base.outcome);
}

/**
 * Writes the outcome of a dispute, and the status of its execution, which follows from it. `record` is for a dispute
 * that was never read.
 */
export function endDispute(
  unit: Unit,
  { dispute, record }: { dispute: string; record?: string },
  outcome: DisputeOutcomeName,
  change: (row: DisputeRow) => Change<DisputeRow>,
): void {
  changeRow(unit, 'disputes', dispute, (row) => ({ ...change(row), outcome }));
  const row = unit.rows.disputes.get(dispute);
  const disputed = row?.record ?? record;
  if (disputed !== undefined) showOutcome(unit, disputed, row?.outcome ?? outcome);
}

/** A record can have only one dispute, ever. */
function showOutcome(unit: Unit, record: string, outcome: DisputeOutcomeName): void {
  unit.outcomes.set(record, outcome);
  const row = unit.rows.executions.get(record);
  if (row) unit.rows.executions.put({ ...row, dispute_count: 1n, status: statusOf(unit, row, row) });
}

/** Writes an execution from its leaf, which never changes. An execution that was never read gets a normal row. */
export function writeArchivedExecution(unit: Unit, row: ExecutionRow): void {
  const unread = unit.rows.unread_accounts.get(row.record);
  if (unread) unit.rows.unread_accounts.remove(row.record);
  const { open_signature, opened_slot, end_signature, deposit } = unread ?? row;
  writeExecution(unit, { ...row, open_signature, opened_slot, end_signature, deposit });
}

/** Records that an account was created and closed before it could be read. */
export function writeUnread(unit: Unit, { address, slot }: Pick<UnreadRow, 'address' | 'slot'>): void {
  const { unread_accounts } = unit.rows;
  if (unread_accounts.get(address)) return;
  const nothing = { execution_id: null, open_signature: null, opened_slot: null, end_signature: null, deposit: null };
  unread_accounts.put({ address, slot, ...nothing });
}

/** Adds what a transaction shows of an unread account; does nothing if the account is not unread. */
export function reportUnread(unit: Unit, address: string, told: Partial<UnreadRow>): void {
  const known = unit.rows.unread_accounts.get(address);
  if (known) unit.rows.unread_accounts.put({ ...known, ...told });
}

/** Throws MissingRow unless the row exists or the account is known to be unread. */
export function requireKnown(unit: Unit, table: AccountTable, key: string): void {
  if (!unit.rows[table].get(key) && !unit.rows.unread_accounts.get(key)) throw new MissingRow(table, key);
}

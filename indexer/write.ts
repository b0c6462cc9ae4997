/**
 * Rows of the index, whole ones and changes, from events and from accounts alike. A row is replaced only by a state that is
 * not older. A change to a row that is not there throws MissingRow, unless its account is known to be unread.
 */
import type { StoredName, StoredRow } from './stored.ts';
import type { DisputeRow, ExecutionRow, UnreadRow } from './tables.ts';
import type { Unit } from './unit.ts';

/** Tables whose rows show an account as it was at a slot. */
type AccountTable = Exclude<StoredName, 'cursor' | 'archive_leaves' | 'unread_accounts' | 'listing_versions'>;
/** Some columns of a row, and the slot of the state that they show. */
type Change<Row> = Partial<Row> & { slot: bigint };

/** An event is about a row that is not there: the node has left out the transaction that made it. */
export class MissingRow extends Error {
  constructor(
    table: string,
    /** The account that the row is of. */
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

/** The change may be said in terms of the row as it was. */
export function changeRow<Table extends AccountTable>(
  unit: Unit,
  table: Table,
  key: string,
  change: Change<StoredRow<Table>> | ((row: StoredRow<Table>) => Change<StoredRow<Table>>),
): void {
  const rows = unit.rows[table];
  const known = rows.get(key);
  // Nothing changed is right only where the row is there and newer, or where there could be none.
  if (!known) {
    requireKnown(unit, table, key);
    return;
  }
  const changed = typeof change === 'function' ? change(known) : change;
  if (known.slot <= changed.slot) rows.put({ ...known, ...changed });
}

/** By which a version of a listing is found. */
export function versionKey(listing: string, version: bigint | number): string {
  return `${listing} ${version}`;
}

/**
 * An execution's state; its id never recurs. What happened once and for all (signatures, position, reason, disputes) is only
 * ever added, whichever of event and account is seen first.
 */
export function writeExecution(unit: Unit, row: ExecutionRow): void {
  const { executions, listings } = unit.rows;
  const known = executions.get(row.record);
  const isNewer = !known || known.slot <= row.slot;
  const base = isNewer ? row : known;
  const listing = listings.get(row.listing);
  const version = unit.rows.listing_versions.get(versionKey(row.listing, row.listing_version));
  // The listing, where no event said the version: one that was read later never says a later timeout.
  const shown = listing?.listing_version === row.listing_version ? listing.timeout_seconds : null;
  const timeout = version?.timeout_seconds ?? shown;
  const isDisputed = known?.dispute_count || row.dispute_count || unit.disputed.has(row.record);
  const { open_signature, opened_slot, open_index } = placeOf(unit, known, row);
  // Named one by one: to spread what changes into a copy costs many times as much.
  executions.put({
    ...base,
    reason: known?.reason ?? row.reason,
    end_signature: known?.end_signature ?? row.end_signature,
    dispute_count: isDisputed ? 1n : 0n,
    listing_timeout_seconds: known?.listing_timeout_seconds ?? timeout,
    open_signature,
    opened_slot,
    open_index,
  });
}

type Place = Pick<ExecutionRow, 'open_signature' | 'opened_slot' | 'open_index'>;

/** Which transaction opened it, and as which of its slot, where that is not known yet. */
function placeOf(unit: Unit, known: ExecutionRow | null, row: ExecutionRow): Place {
  const { open_signature, opened_slot: slot } = row;
  const place = {
    open_signature: known?.open_signature ?? null,
    opened_slot: known?.opened_slot ?? null,
    open_index: known?.open_index ?? null,
  };
  if (open_signature === null || slot === null) return place;
  if (place.opened_slot !== null && place.open_signature === open_signature) return place;
  const open_index = unit.opened.get(slot) ?? 0n;
  if (place.opened_slot !== slot) {
    unit.countOpened(slot, open_index + 1n);
    const left = place.opened_slot === null ? undefined : unit.opened.get(place.opened_slot);
    if (left !== undefined) unit.countOpened(place.opened_slot!, left - 1n);
  }
  return { open_signature, opened_slot: slot, open_index };
}

/** The settle or refund of an open execution, at `settled_at`; a `reason` only for a refund. */
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
    row.reason ??= reason;
    row.end_signature ??= at.signature;
    executions.put(row);
  }
  tellUnread(unit, record, { end_signature: at.signature });
}

/** A dispute's state. Its URI and that there was one are only ever added. */
export function writeDispute(unit: Unit, row: DisputeRow): void {
  const { disputes, executions } = unit.rows;
  const known = disputes.get(row.dispute);
  const base = !known || known.slot <= row.slot ? row : known;
  disputes.put({ ...base, evidence_uri: known?.evidence_uri ?? row.evidence_uri });
  // One per record, ever.
  unit.disputed.add(row.record);
  const execution = executions.get(row.record);
  if (execution) executions.put({ ...execution, dispute_count: 1n });
}

/**
 * An execution as its leaf has it, which nothing changes any more. One that was never read is a row like any other from
 * now on.
 */
export function writeArchivedExecution(unit: Unit, row: ExecutionRow): void {
  const unread = unit.rows.unread_accounts.get(row.record);
  if (unread) unit.rows.unread_accounts.remove(row.record);
  const { open_signature, opened_slot, end_signature } = unread ?? row;
  writeExecution(unit, { ...row, open_signature, opened_slot, end_signature });
}

/** Remembers that an account was made and is gone, and that nothing is known of it. */
export function writeUnread(unit: Unit, { address, slot }: Pick<UnreadRow, 'address' | 'slot'>): void {
  const { unread_accounts } = unit.rows;
  if (unread_accounts.get(address)) return;
  const nothing = { execution_id: null, open_signature: null, opened_slot: null, end_signature: null };
  unread_accounts.put({ address, slot, ...nothing });
}

/** What transactions tell of an account that is unread; nothing where it is not. */
export function tellUnread(unit: Unit, address: string, told: Partial<UnreadRow>): void {
  const known = unit.rows.unread_accounts.get(address);
  if (known) unit.rows.unread_accounts.put({ ...known, ...told });
}

/** There is a row, or there could be none. */
export function requireKnown(unit: Unit, table: AccountTable, key: string): void {
  if (!unit.rows[table].get(key) && !unit.rows.unread_accounts.get(key)) throw new MissingRow(table, key);
}

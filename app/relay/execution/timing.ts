/** Whether there is time left to serve a call, and to settle it before anyone may refund it. */
import type { JournalRow } from '../ledger/tables.ts';
import type { Snapshot } from './snapshot.ts';

/** Relays stop settling this long before refund_at, seconds. */
export const SETTLE_MARGIN_SECONDS = 60n;

/** True if an agent that begins now could still be paid after its whole timeout. */
export function hasTimeToServe(row: JournalRow, { now }: Snapshot): boolean {
  return now + row.timeout_seconds < (row.refund_at ?? 0n) - SETTLE_MARGIN_SECONDS;
}

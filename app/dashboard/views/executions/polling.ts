/**
 * How long until an execution is read again: it, its record and its dispute come from places that do not change
 * together.
 */
import type { DisputeSummary } from '../../../sdk/wire/procedures.ts';
import { pollMs } from '../../wallet/events.ts';
import type { Execution } from './facts.tsx';
import type { ShownRecord } from './record.ts';

/** Poll interval while the index and the node do not agree, ms. */
export const LATE_MS = 2_000;
/**
 * Poll interval of a refund that waits for an account, and of an archived record that waits for its proof, ms. No event
 * reports their end.
 */
export const WAITING_MS = 10_000;

export const isUnderWay = ({ status, refund }: Execution): boolean =>
  status === 'pending' || status === 'running' || refund === 'pending';

export function readAgain(execution: Execution | undefined, isLate = false): number | false {
  if (!execution) return false;
  if (isLate) return LATE_MS;
  if (isUnderWay(execution)) return pollMs();
  return execution.refund === 'waiting' || execution.refund === 'unclaimed' ? WAITING_MS : false;
}

/** True if the index is behind the chain. */
export function isBehind({ status }: Execution, record: ShownRecord | null | undefined): boolean {
  if (record?.dispute === 'open') return status !== 'disputed';
  return record?.status === 'refunded' ? status !== 'failed' : false;
}

/** True if the record is closed, and the index has no proof of its leaf yet. */
export const lacksProof = ({ status, archive }: Execution, record: ShownRecord | null | undefined): boolean =>
  status === 'completed' && archive === null && record === null;

/** True if the record was read before the execution ended. */
export function isOlder({ status, refund }: Execution, record: ShownRecord | null | undefined): boolean {
  return record?.status === 'open' && (status === 'completed' || status === 'disputed' || refund === 'done');
}

export function isDisputeBehind(dispute: DisputeSummary | null, record: ShownRecord | null | undefined): boolean {
  if (!record) return false;
  return record.dispute === 'open' ? dispute === null : dispute?.outcome === 'open';
}

/**
 * The audit log of the admin: its sessions' actions and readings of private data at this relay, and its transactions
 * from the index. A row is written before the action and completed after it. An action whose row cannot be written is
 * refused.
 */
import { attachedIndex, readAdminEvents } from '../../../indexer/queries/read.ts';
import type { AdminActionName, ProcedureOutput } from '../../sdk/wire/procedures.ts';
import { toTime, toTimeOfMs } from '../../sdk/wire/time.ts';
import { ApiError } from '../errors.ts';
import { beginAction, endAction, prolongReading, readActions } from '../ledger/adminActions.ts';
import type { Databases } from '../ledger/tables.ts';
import type { Now } from '../waiting.ts';

export type AuditDeps = Databases & Now;

interface AuditedAction {
  /** The admin's wallet. */
  wallet: string;
  action: AdminActionName;
  /** An execution's id; for a sign-in the client's address, for a list its filter. Never a secret. */
  subject: string;
}

interface Page {
  limit: number;
  offset: number;
}

interface ActionsPage extends Page {
  /** True: only reads. False: all others. */
  reads?: boolean | undefined;
}

/** The dashboard polls every few seconds: repeated readings within this time share one row, from the first to the last. */
const ONE_READING_MS = 10 * 60 * 1_000;
/** Maximum rows counted from the page's offset on. */
const COUNTED = 10_000;

/** Does the work; writes the action's row before it and completes it afterwards. */
export async function audited<Value>(
  { ledger, now }: AuditDeps,
  action: AuditedAction,
  work: () => Promise<Value>,
): Promise<Value> {
  const id = await beginAction(ledger, { ...action, nowMs: now() });
  let value: Value;
  try {
    value = await work();
  } catch (error) {
    await endAction(ledger, id, error instanceof ApiError ? error.code : 'internal_error', now());
    throw error;
  }
  await endAction(ledger, id, 'done', now());
  return value;
}

/** Like `audited`, for a reading. A repeat within ten minutes adds no row, but its time. */
export async function auditedReading<Value>(
  deps: AuditDeps,
  action: AuditedAction,
  read: () => Promise<Value>,
): Promise<Value> {
  const nowMs = deps.now();
  if (await prolongReading(deps.ledger, { ...action, nowMs }, nowMs - ONE_READING_MS)) return read();
  return audited(deps, action, read);
}

export async function listActions(
  { views }: AuditDeps,
  page: ActionsPage,
): Promise<ProcedureOutput<'operation.actions'>> {
  const { rows, total } = await readActions(views, page, COUNTED);
  return {
    actions: rows.map(({ action_id, wallet, action, subject, begun_ms, ended_ms, outcome }) => ({
      action_id,
      wallet,
      action: action as AdminActionName,
      subject,
      begun_at: toTimeOfMs(begun_ms),
      ended_at: ended_ms === null ? null : toTimeOfMs(ended_ms),
      outcome,
    })),
    total,
  };
}

/** `readTime` gives a slot's unix time, or null if the node has forgotten it. */
export async function listEvents(
  { views }: AuditDeps,
  readTime: (slot: number) => Promise<number | null>,
  page: Page,
): Promise<ProcedureOutput<'operation.events'>> {
  const { rows, total } = await readAdminEvents(attachedIndex(views), page, COUNTED);
  const slots = [...new Set(rows.map(({ slot }) => slot))];
  const times = new Map(
    await Promise.all(slots.map(async (slot) => [slot, await readTime(Number(slot)).catch(() => null)] as const)),
  );
  return {
    events: rows.map(({ slot, signature, event_index, name, data }) => {
      const time = times.get(slot) ?? null;
      return {
        slot: Number(slot),
        at: time === null ? null : toTime(BigInt(time)),
        signature,
        event_index: Number(event_index),
        event: name,
        data: JSON.parse(data) as Record<string, unknown>,
      };
    }),
    total,
  };
}

/** The table of the admin's actions through the relays of this ledger. Rows are never deleted. */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { countRows, readTogether } from '../../database/portable.ts';
import { ADMIN_READS } from '../../sdk/wire/choices.ts';
import type { LedgerDatabase, LedgerTables } from './tables.ts';

type Ledger = Kysely<LedgerTables>;

/** An action that begins now, unix milliseconds. */
interface BegunAction {
  wallet: string;
  action: string;
  subject: string;
  nowMs: number;
}

/** Writes an action before it is done; returns its id. */
export async function beginAction(ledger: Ledger, { nowMs, ...action }: BegunAction): Promise<string> {
  const action_id = randomUUID();
  const row = { action_id, ...action, begun_ms: BigInt(nowMs), ended_ms: null, outcome: null };
  await ledger.insertInto('admin_actions').values(row).execute();
  return action_id;
}

/** Completes an action. `outcome` is `done`, or the code of an error. */
export async function endAction(ledger: Ledger, actionId: string, outcome: string, nowMs: number): Promise<void> {
  await ledger
    .updateTable('admin_actions')
    .set({ outcome, ended_ms: BigInt(nowMs) })
    .where('action_id', '=', actionId)
    .execute();
}

/** Moves the end of the same action to now, if the wallet began it after `sinceMs` and completed it; else false. */
export async function prolongReading(
  ledger: Ledger,
  { wallet, action, subject, nowMs }: BegunAction,
  sinceMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await ledger
    .updateTable('admin_actions')
    .set({ ended_ms: BigInt(nowMs) })
    .where('subject', '=', subject)
    .where('action', '=', action)
    .where('begun_ms', '>', BigInt(sinceMs))
    .where('wallet', '=', wallet)
    .where('outcome', '=', 'done')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** A page, newest end first; with `reads`, only reads, or all others. The total counts up to `counted` beyond the offset. */
export function readActions(
  views: Kysely<LedgerDatabase>,
  { reads, limit, offset }: { reads?: boolean | undefined; limit: number; offset: number },
  counted: number,
): Promise<{ rows: LedgerTables['admin_actions'][]; total: number }> {
  return readTogether(views, async (moment) => {
    const last = sql<bigint>`coalesce(ended_ms, begun_ms)`;
    const actions = moment
      .selectFrom('admin_actions')
      .$if(reads !== undefined, (all) => all.where('action', reads ? 'in' : 'not in', ADMIN_READS))
      .orderBy(last, 'desc')
      .orderBy('action_id', 'desc');
    const total = await countRows(moment, actions.select('action_id').limit(offset + counted));
    return { rows: await actions.selectAll().limit(limit).offset(offset).execute(), total };
  });
}

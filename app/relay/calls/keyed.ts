/** Finds the executions of a wallet by the Idempotency-Key of their call. */
import { readIdByTail } from '../ledger/executions.ts';
import type { Databases } from '../ledger/tables.ts';
import type { ChainClock } from '../waiting.ts';
import type { PageQuery } from './executionPages.ts';
import { type ExecutionView, readViews } from './executionViews.ts';
import { idsOfDay, tailOf } from './idempotency.ts';
import type { LostCalls } from './lostCalls.ts';

export interface KeyedPageDeps extends Databases, ChainClock {
  lostCalls: LostCalls;
}

/**
 * The page of a key's executions, newest first. There is more than one only if an earlier one was never paid. The ledger
 * knows the key of every call that it keeps; the index is asked for the ids of the last 24 hours. Throws ApiError 503
 * while a call may exist that neither knows.
 */
export async function readKeyed(
  { ledger, views, lostCalls, accounts }: KeyedPageDeps,
  { wallet, status, agentId, keyId, from, to, limit, offset }: PageQuery,
  key: string,
): Promise<{ rows: ExecutionView[]; total: number }> {
  await lostCalls.requireKnown();
  const tail = tailOf(key);
  const kept = await readIdByTail(ledger, wallet, tail);
  const ids = new Set([...(kept === null ? [] : [kept]), ...idsOfDay(wallet, tail, accounts.clock())]);
  const rows = (await readViews(views, [...ids])).filter(
    (row) =>
      row.wallet === wallet &&
      (status ?? row.status) === row.status &&
      (agentId ?? row.listing) === row.listing &&
      (keyId ?? row.key_id) === row.key_id &&
      row.initiated_at >= from &&
      row.initiated_at < to,
  );
  rows.sort((one, other) => Number(other.initiated_at - one.initiated_at));
  return { rows: rows.slice(offset, offset + limit), total: rows.length };
}

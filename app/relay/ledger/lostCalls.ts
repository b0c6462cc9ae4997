/** What the index knows and the ledger does not: calls that a lost or restored ledger lacks, and gaps of the index. */
import { type Kysely, sql } from 'kysely';
import type { LedgerDatabase } from './tables.ts';

type Views = Kysely<LedgerDatabase>;

/** Executions compared of each kind: a lost or restored ledger lacks the latest ones. */
const COMPARED = 1_000;

/**
 * True if one of the latest executions of this deployment has no row, or only one that was made for its record. Only those
 * count that an API key opened, or a deposit, at `since` or later; unix seconds.
 */
export async function lacksCalls(views: Views, since: bigint): Promise<boolean> {
  const latest = (condition: string) => sql`SELECT * FROM (
    SELECT execution_id, key_id, deposit, rent_sponsor, opened_at FROM chain.executions
    WHERE ${sql.raw(condition)} ORDER BY opened_slot DESC, open_index DESC LIMIT ${sql.lit(COMPARED)}) AS latest`;
  // An index that read accounts in place of forgotten slots does not know when they were opened.
  const { rows } = await sql<{ lost: bigint }>`
    SELECT count(*) AS lost
      FROM (${latest('opened_slot IS NOT NULL')} UNION ALL ${latest('opened_slot IS NULL')}) AS c
        LEFT JOIN executions AS j ON j.execution_id = c.execution_id
      WHERE c.opened_at >= ${since} AND (j.execution_id IS NULL OR j.nonce = '') AND (
        -- Without any key, the ledger is new, and all keys may have been its keys.
        (c.key_id IS NOT NULL AND (c.key_id IN (SELECT key_id FROM api_keys) OR NOT EXISTS (SELECT 1 FROM api_keys)))
        OR (c.deposit IS NOT NULL AND c.rent_sponsor IN (SELECT address FROM lenders)))`.execute(views);
  return rows[0]!.lost > 0n;
}

/** True if the index lacks transactions of this slot or a later one. */
export async function lacksSlots(views: Views, from: bigint): Promise<boolean> {
  const { rows } = await sql<{ lacks: bigint }>`
    SELECT CASE WHEN EXISTS (SELECT 1 FROM chain.pruned_slots WHERE last_slot >= ${from})
      OR EXISTS (SELECT 1 FROM chain.gaps WHERE slot >= ${from}) THEN 1 ELSE 0 END AS lacks`.execute(views);
  return rows[0]?.lacks === 1n;
}

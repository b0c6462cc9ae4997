/**
 * Ended rows whose record still holds rent. Each statement changes one row: the triggers of
 * `lent_sums` lock the sums of a row in a fixed order, and with several rows two transactions could wait for each other.
 */
import { sql } from 'kysely';
import { type Kind, NO_KEY } from './funding.ts';
import type { JournalRow } from './tables.ts';
import type { Writing } from './writing.ts';

/** The lent rents of one journal. */
export function createLentRents({ db }: Writing) {
  return {
    /** Ended rows whose records opened before this moment (unix seconds), with rent still lent, oldest end first, after `after`. */
    lent(openedBefore: bigint, limit: number, after: Pick<JournalRow, 'settled_at' | 'execution_id'> | null) {
      return db
        .selectFrom('executions')
        .select(['execution_id', 'settled_at'])
        .where(sql<boolean>`record_lent > 0 AND state IN ('settled', 'refunded')`)
        .where('opened_at', '<', openedBefore)
        .where(sql<boolean>`(settled_at, execution_id) > (${after?.settled_at ?? -1n}, ${after?.execution_id ?? ''})`)
        .orderBy('settled_at')
        .orderBy('execution_id')
        .limit(limit)
        .execute();
    },
    /** End of the oldest execution whose record's rent is lent to this kind, or to any; unix seconds, null if there is none. */
    async lentSince(kind: Kind | null): Promise<bigint | null> {
      const row = await db
        .selectFrom('executions')
        .select('settled_at')
        .where(sql<boolean>`record_lent > 0 AND state IN ('settled', 'refunded')`)
        .$if(kind !== null, (query) => query.where('key_id', kind === 'keys' ? '<>' : '=', NO_KEY))
        .orderBy('settled_at')
        .limit(1)
        .executeTakeFirst();
      return row?.settled_at ?? null;
    },
    /** The records of these rows are gone, so their rent is back. */
    async rentReturned(ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        await db.updateTable('executions').set({ record_lent: 0n }).where('execution_id', '=', id).execute();
      }
    },
  };
}

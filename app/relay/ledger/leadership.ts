/**
 * Elects a leader for each task that one relay does for all relays on this ledger. The first relay that asks leads, as
 * long as it lives and asks again in time. Times are on the database's clock, which all relays share.
 */
import { type Kysely, sql } from 'kysely';
import { nowMsOf } from '../../database/portable.ts';
import { isTemporary } from '../../database/temporary.ts';
import type { LedgerTables } from './tables.ts';

/** Longer than the longest pause of a led task. None of these tasks is urgent. */
const TERM_MS = 15 * 60_000;

export type Leadership = ReturnType<typeof createLeadership>;

/** Creates it for the relay process `owner`. */
export function createLeadership(db: Kysely<LedgerTables>, owner: string) {
  const now = nowMsOf(db);
  return {
    /** True if we lead this task now; the lead then lasts for one term. */
    async leads(name: string): Promise<boolean> {
      const { rows } = await sql`
        INSERT INTO leaderships (name, owner, until_ms)
        VALUES (${name}, ${owner}, ${now} + ${sql.raw(String(TERM_MS))})
        ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms
        WHERE leaderships.owner = excluded.owner OR leaderships.until_ms <= ${now}
          OR NOT EXISTS (SELECT 1 FROM relays WHERE relays.owner = leaderships.owner AND relays.alive_until_ms > ${now})
        RETURNING owner`.execute(db);
      return rows.length === 1;
    },
    /** Gives up our lead of this task; without a name, all our leads. */
    async leave(name?: string): Promise<void> {
      const ours = db.deleteFrom('leaderships').where('owner', '=', owner);
      // If the database is unreachable, the leads end with their term. That must not fail a relay that stops.
      await (name === undefined ? ours : ours.where('name', '=', name)).execute().catch((error) => {
        if (!isTemporary(error)) throw error;
      });
    },
  };
}

/**
 * What one relay does for all on this ledger: whoever asks first does it, for as long as it lives and asks again in time.
 * By the clock of the database, which all of them share.
 */
import { type Kysely, sql } from 'kysely';
import { nowMsOf } from '../../database/portable.ts';
import { isTemporary } from '../../database/temporary.ts';
import type { LedgerTables } from './tables.ts';

/** Longer than the longest task that is led takes between two of its turns; nothing of it is urgent. */
const TERM_MS = 15 * 60_000;

export interface Leadership {
  /** Whether it is ours to do now; then it stays so for a term. */
  leads(name: string): Promise<boolean>;
  /** Leaves all of ours to others. */
  leave(): Promise<void>;
}

/** As the relay process of this name has it. */
export function createLeadership(db: Kysely<LedgerTables>, owner: string): Leadership {
  const now = nowMsOf(db);
  return {
    async leads(name) {
      const { rows } = await sql`
        INSERT INTO leaderships (name, owner, until_ms)
        VALUES (${name}, ${owner}, ${now} + ${sql.raw(String(TERM_MS))})
        ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms
        WHERE leaderships.owner = excluded.owner OR leaderships.until_ms <= ${now}
          OR NOT EXISTS (SELECT 1 FROM relays WHERE relays.owner = leaderships.owner AND relays.alive_until_ms > ${now})
        RETURNING owner`.execute(db);
      return rows.length === 1;
    },
    async leave() {
      // Where the database is away nothing is left to others but by its end: who stops then must not fail by that.
      await db
        .deleteFrom('leaderships')
        .where('owner', '=', owner)
        .execute()
        .catch((error) => {
          if (!isTemporary(error)) throw error;
        });
    },
  };
}

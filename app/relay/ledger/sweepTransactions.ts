/**
 * The sweeper's signed transactions with unknown outcomes. Each is stored before it is sent. So the successor of a dead
 * relay follows it first, and never signs a second one for the same purpose.
 */
import { type Kysely, sql } from 'kysely';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { bytesOf, isPostgres } from '../../database/portable.ts';
import type { LedgerTables } from './tables.ts';
import type { SignedTransaction } from './writing.ts';

/** The task of the relay that sweeps, in `leaderships`. */
export const SWEEP = 'sweep';

export type SweepTransactions = ReturnType<typeof createSweepTransactions>;

/** Creates it for the relay process `owner`. `writes` and `ledger` belong to one database. */
export function createSweepTransactions(writes: GroupCommit, ledger: Kysely<LedgerTables>, owner: string) {
  return {
    /** Those of all relays. */
    async pending(): Promise<SignedTransaction[]> {
      const rows = await ledger.selectFrom('sweeper_transactions').selectAll().orderBy('signature').execute();
      return rows.map(({ signed, signature, last_valid_height }) => {
        return { bytes: signed, signature, lastValidHeight: last_valid_height };
      });
    },
    /** Stores the transaction. Returns false if another relay sweeps now; then it must not be sent. */
    async store({ bytes, signature, lastValidHeight }: SignedTransaction): Promise<boolean> {
      const query = ledger
        .insertInto('sweeper_transactions')
        .columns(['signature', 'signed', 'last_valid_height'])
        .expression((expression) =>
          expression
            .selectFrom('leaderships')
            .select([
              sql`CAST(${signature} AS TEXT)`.as('signature'),
              bytesOf(ledger, bytes).as('signed'),
              sql`CAST(${lastValidHeight} AS BIGINT)`.as('last_valid_height'),
            ])
            .where('name', '=', SWEEP)
            .where('owner', '=', owner)
            // A relay that takes the lead waits until this row is written, so it reads it. SQLite has one writer.
            .$if(isPostgres(ledger), (lead) => lead.forShare()),
        );
      return (await writes.intend(query.compile())).changes === 1;
    },
    /** Forgets the transaction, because its outcome is known. */
    async clear(signature: string): Promise<void> {
      await writes.note(ledger.deleteFrom('sweeper_transactions').where('signature', '=', signature).compile());
    },
  };
}

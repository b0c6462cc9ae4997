/**
 * The right to sweep, which one relay holds at a time, and its signed transaction with an unknown fate. The transaction
 * is stored before it is sent. So the successor of a dead relay follows it first, and never signs a second one for the
 * same purpose.
 */
import { type Kysely, sql } from 'kysely';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { textsOf } from '../../database/portable.ts';
import type { LedgerTables } from './tables.ts';
import type { SignedTransaction } from './writing.ts';

export interface SweepPlace {
  /** Takes the right; true if it is ours now: we held it, or no live relay does. `others` are the other live relays. */
  take(others: readonly string[]): Promise<boolean>;
  /** The signed transaction with an unknown fate; null if there is none, or if the right is not ours. */
  pending(): Promise<SignedTransaction | null>;
  /**
   * Stores the transaction. Returns false if the right is not ours, or another transaction is pending; then it must not
   * be sent.
   */
  store(signed: SignedTransaction): Promise<boolean>;
  /** Forgets the transaction, because its fate is known. */
  clear(signature: string): Promise<void>;
  /** Gives up the right, together with the pending transaction. */
  leave(): Promise<void>;
}

/** Creates it for the relay process `owner`. `writes` and `ledger` belong to one database. */
export function createSweepPlace(writes: GroupCommit, ledger: Kysely<LedgerTables>, owner: string): SweepPlace {
  return {
    async take(others) {
      const query = ledger
        .updateTable('sweeper')
        .set({ owner })
        .where((row) =>
          row.or([
            row('owner', 'is', null),
            row('owner', '=', owner),
            sql<boolean>`owner NOT IN ${textsOf(ledger, others)}`,
          ]),
        );
      return (await writes.note(query.compile())).changes === 1;
    },
    async pending() {
      const row = await ledger
        .selectFrom('sweeper')
        .select(['signed', 'signature', 'last_valid_height'])
        .where('owner', '=', owner)
        .where('signature', 'is not', null)
        .executeTakeFirst();
      if (!row?.signed || row.signature === null || row.last_valid_height === null) return null;
      return { bytes: row.signed, signature: row.signature, lastValidHeight: row.last_valid_height };
    },
    async store({ bytes, signature, lastValidHeight }) {
      const query = ledger
        .updateTable('sweeper')
        .set({ signed: Buffer.from(bytes), signature, last_valid_height: lastValidHeight })
        .where('owner', '=', owner)
        .where('signature', 'is', null);
      return (await writes.intend(query.compile())).changes === 1;
    },
    async clear(signature) {
      const query = ledger
        .updateTable('sweeper')
        .set({ signed: null, signature: null, last_valid_height: null })
        .where('signature', '=', signature);
      await writes.note(query.compile());
    },
    async leave() {
      await writes.note(ledger.updateTable('sweeper').set({ owner: null }).where('owner', '=', owner).compile());
    },
  };
}

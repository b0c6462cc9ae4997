/**
 * The one place from which the archive is swept, however many relays there are: its holder, and the transaction that
 * was signed there and whose fate is not known yet. It is stored before it is sent, so that whoever takes the place of a
 * dead holder follows it first and never signs a second one for the same end.
 */
import { type Kysely, sql } from 'kysely';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { textsOf } from '../../database/portable.ts';
import type { LedgerTables } from './tables.ts';
import type { SignedTransaction } from './writing.ts';

export interface SweepPlace {
  /** Whether it is ours now: it was, or nobody who lives has it. `others` are the relays that live beside us. */
  take(others: readonly string[]): Promise<boolean>;
  /** What was signed and not followed to its end; null where nothing was, or the place is not ours. */
  pending(): Promise<SignedTransaction | null>;
  /** Stores it; false where the place is not ours any more or another transaction is pending. Then it must not be sent. */
  store(signed: SignedTransaction): Promise<boolean>;
  /** Its fate is known. */
  clear(signature: string): Promise<void>;
  /** Leaves the place to others, with what is pending. */
  leave(): Promise<void>;
}

/** For the relay process that calls itself `owner`; `writes` and `ledger` are of one database. */
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

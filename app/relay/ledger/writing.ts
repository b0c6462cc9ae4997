/** The shared way to write for all parts of the journal, and its error. */
import type { Compilable, Kysely, RawBuilder } from 'kysely';
import type { GroupCommit } from '../../database/groupCommit.ts';
import type { Prepared } from '../../database/prepared.ts';
import type { LedgerTables } from './tables.ts';

/** One ledger, written by the relay process `owner`. `writes` and `db` share one connection. */
export interface Writing {
  writes: GroupCommit;
  db: Kysely<LedgerTables>;
  owner: string;
  /** Prepared statements that every call runs. */
  compile: Prepared['compile'];
}

/** The move is not in the table of states, or the row is another relay's. */
export class JournalConflict extends Error {}

/** A signed transaction in the journal. */
export interface SignedTransaction {
  bytes: Uint8Array;
  signature: string;
  lastValidHeight: bigint;
}

/** A new transaction with its cost if it lands, lamports. */
export interface NewTransaction extends SignedTransaction {
  fee: bigint;
}

/** A statement in SQL as `compile` of `Writing` takes it. */
export const compilable = <Row>(db: Kysely<LedgerTables>, text: RawBuilder<Row>): Compilable<Row> => ({
  compile: () => text.compile(db),
});

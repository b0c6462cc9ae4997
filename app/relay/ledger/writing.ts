/** What all parts of the journal write through, and what they refuse. */
import type { Kysely } from 'kysely';
import type { GroupCommit } from '../../database/groupCommit.ts';
import type { Prepared } from '../../database/prepared.ts';
import type { LedgerTables } from './tables.ts';

/** One ledger, as the relay process named `owner` writes it. `writes` and `db` are of one connection. */
export interface Writing {
  writes: GroupCommit;
  db: Kysely<LedgerTables>;
  owner: string;
  /** Statements of this ledger that every call runs. */
  compile: Prepared['compile'];
}

/** The journal refuses a move that its table of states does not have, or of a row that another relay owns. */
export class JournalConflict extends Error {}

/** A signed transaction as the journal keeps it. */
export interface SignedTransaction {
  bytes: Uint8Array;
  signature: string;
  lastValidHeight: bigint;
}

/** One that was signed a moment ago, with what it costs where it lands, lamports. */
export interface NewTransaction extends SignedTransaction {
  fee: bigint;
}

/**
 * The journal of executions with its forward-only moves. Intents (transactions to send) are on the disk before the relay
 * acts; an intent to settle takes the result there too. Notes (facts that the chain can show again) reach the disk with the next intent. A killed
 * process loses neither; a power cut loses some notes at most.
 *
 * Both use one connection, because a second one would always find its cached pages outdated. Several relays may share
 * the file: only the owner of a row moves it.
 */
import type { Kysely } from 'kysely';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { createPrepared } from '../../database/prepared.ts';
import { createClaims } from './claims.ts';
import { readExecutionRow, readIdByTail } from './executions.ts';
import { createFailedAnswers } from './failedAnswers.ts';
import { createIntents } from './intents.ts';
import { createLentRents } from './lentRents.ts';
import { createLosses } from './losses.ts';
import { createMover } from './moves.ts';
import { createNotes } from './notes.ts';
import { createResults } from './results.ts';
import type { JournalRow, LedgerTables } from './tables.ts';
import { createOutcomes } from './transactions.ts';
import { createUnfinished } from './unfinished.ts';
import type { Writing } from './writing.ts';

export type Journal = ReturnType<typeof createJournal>;

/**
 * Creates the journal of the relay process `owner`. `writes` and `db` share one connection. A move throws
 * JournalConflict if the row has moved or belongs to another relay. A move updates the given row to its state in the
 * table.
 */
export function createJournal(writes: GroupCommit, db: Kysely<LedgerTables>, owner: string) {
  const writing: Writing = { writes, db, owner, compile: createPrepared().compile };
  const mover = createMover(writing);
  return {
    owner,
    get: (id: string): Promise<JournalRow | undefined> => readExecutionRow(writing, id),
    idByTail: (wallet: string, tail: Uint8Array) => readIdByTail(db, wallet, tail),
    ...createClaims(writing),
    ...createIntents(mover),
    intendShared: mover.intendShared,
    ...createNotes(mover, writing),
    ...createOutcomes(writing),
    ...createLosses(writing),
    ...createResults(writing),
    ...createFailedAnswers(writing),
    ...createUnfinished(writing),
    ...createLentRents(writing),
  };
}

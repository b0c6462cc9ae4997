/**
 * The journal of executions with its forward-only moves.
 *
 * Intents (what will be sent, what was verified) are on the disk before anything is done about them; notes (what the
 * chain can tell again) are only written, and reach the disk with the next intent. A killed process loses neither, a
 * power cut at most some notes. Both go through one connection: a second one would find its pages overtaken each time.
 * Several relays may share the file: a row is moved only by the one that owns it.
 */
import type { Kysely } from 'kysely';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { createPrepared } from '../../database/prepared.ts';
import { createClaims } from './claims.ts';
import { readExecutionRow } from './executions.ts';
import { createFinality } from './finality.ts';
import { createIntents } from './intents.ts';
import { createLateAnswers } from './lateAnswers.ts';
import { createMover } from './moves.ts';
import { createNotes } from './notes.ts';
import { createPieces } from './pieces.ts';
import { createResults } from './results.ts';
import type { JournalRow, LedgerTables } from './tables.ts';
import { createUnfinished } from './unfinished.ts';
import type { Writing } from './writing.ts';

export type Journal = ReturnType<typeof createJournal>;

/**
 * The journal of the relay process named `owner`; `writes` and `db` are of one connection. A move that finds the row
 * elsewhere, or another's, throws JournalConflict. The row that is moved is given, and then is as the table has it.
 */
export function createJournal(writes: GroupCommit, db: Kysely<LedgerTables>, owner: string) {
  const writing: Writing = { writes, db, owner, compile: createPrepared().compile };
  const mover = createMover(writing);
  const pieces = createPieces(writing);
  return {
    owner,
    get: (id: string): Promise<JournalRow | undefined> => readExecutionRow(writing, id),
    ...createClaims(writing),
    ...createIntents(mover),
    ...createNotes(mover, writing),
    ...createResults(writing, pieces),
    ...createLateAnswers(writing, pieces),
    ...createUnfinished(writing),
    ...createFinality(writing),
  };
}

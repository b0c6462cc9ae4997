/**
 * What a handler of an event is: SQL only. Events carry the state after them, so a handler writes values and never
 * computes. A row that already shows a later slot (its account was read) keeps its state. MissingRow asks for the
 * accounts; any other throw stops the indexer.
 */
import type { Transaction } from 'kysely';
import type { EventData, EventName } from '../../app/sdk/program/eventFields.ts';
import type { IndexDatabase } from '../tables.ts';

/** Where an event happened. */
export interface Position {
  signature: string;
  slot: bigint;
}

export type Db = Transaction<IndexDatabase>;

/** One for each event of the program. */
export type Handlers = { [Name in EventName]: (db: Db, data: EventData<Name>, at: Position) => Promise<void> };

/**
 * What a handler of an event is: it changes rows that the unit of work holds, and waits for nothing. Events carry the state
 * after them, so a handler writes values and never computes. A row that already shows a later slot (its account was read)
 * keeps its state. MissingRow asks for the accounts; any other throw stops the indexer.
 */
import type { EventData, EventName } from '../../app/sdk/program/eventFields.ts';
import type { Unit } from '../unit.ts';

/** Where an event happened. */
export interface Position {
  signature: string;
  slot: bigint;
}

/** One for each event of the program. */
export type Handlers = { [Name in EventName]: (unit: Unit, data: EventData<Name>, at: Position) => void };

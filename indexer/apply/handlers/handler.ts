/**
 * The type of an event handler. A handler changes rows in the unit of work and never waits. An event carries the state
 * after it, so a handler writes values and computes none. A row with a later slot (its account was read) keeps its
 * state. MissingRow requests a snapshot of the accounts; any other error stops the indexer.
 */
import type { EventData, EventName } from '../../../app/sdk/program/eventFields.ts';
import type { Unit } from '../unit.ts';

/** The transaction and slot of an event. */
export interface Position {
  signature: string;
  slot: bigint;
}

/** One handler for each event of the program. */
export type Handlers = { [Name in EventName]: (unit: Unit, data: EventData<Name>, at: Position) => void };

/** The program's events from the IDL. programs/marketplace/src/events/ documents their fields. */
import { idl, type LiteralIdl } from './idl/idl.ts';
import { fieldsOf } from './idlCodecs.ts';
import type { IdlType } from './idlTypes.ts';
import type { StructOf } from './idlValues.ts';

export type EventName = LiteralIdl['events'][number]['name'];
/** An event's fields: u64 and i64 as bigint, smaller integers as number, byte arrays as Uint8Array. */
export type EventData<Name extends EventName> = StructOf<Name>;
export type MarketplaceEvent = { [Name in EventName]: { name: Name; data: EventData<Name> } }[EventName];

/** Each event's fields with their types, in the program's order. */
export const EVENT_FIELDS = Object.fromEntries(idl.events.map(({ name }) => [name, fieldsOf(name)])) as {
  [Name in EventName]: { [Field in keyof EventData<Name>]: IdlType };
};

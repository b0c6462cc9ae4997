/** Maps each event to the handler that applies it. */
import type { MarketplaceEvent } from '../../app/sdk/program/eventFields.ts';
import { archives } from './handlers/archives.ts';
import { config } from './handlers/config.ts';
import { deposits } from './handlers/deposits.ts';
import { disputes } from './handlers/disputes.ts';
import { executions } from './handlers/executions.ts';
import { grants } from './handlers/grants.ts';
import type { Handlers, Position } from './handlers/handler.ts';
import { listings } from './handlers/listings.ts';
import type { Unit } from './unit.ts';

/** Exhaustive: an event without a handler does not compile. */
const HANDLERS: Handlers = { ...config, ...listings, ...grants, ...executions, ...deposits, ...disputes, ...archives };

/** Applies one event to the unit of work. Throws MissingRow if the event is about a row that does not exist. */
export function handleEvent(unit: Unit, event: MarketplaceEvent, at: Position): void {
  // TypeScript cannot infer that the handler found by name accepts the data of the same event.
  const handler = HANDLERS[event.name] as (unit: Unit, data: MarketplaceEvent['data'], at: Position) => void;
  handler(unit, event.data, at);
}

/** What each event changes, by the handler of its name. */
import type { MarketplaceEvent } from '../app/sdk/program/eventFields.ts';
import { archives } from './handlers/archives.ts';
import { config } from './handlers/config.ts';
import { disputes } from './handlers/disputes.ts';
import { executions } from './handlers/executions.ts';
import { grants } from './handlers/grants.ts';
import type { Handlers, Position } from './handlers/handler.ts';
import { listings } from './handlers/listings.ts';
import type { Unit } from './unit.ts';

/** Exhaustive: an event without a handler does not compile. */
const HANDLERS: Handlers = { ...config, ...listings, ...grants, ...executions, ...disputes, ...archives };

/** Writes what one event says. Throws MissingRow where it is about a row that is not there. */
export function handleEvent(unit: Unit, event: MarketplaceEvent, at: Position): void {
  // The union's name and data belong together, which TypeScript cannot follow through an index.
  const handler = HANDLERS[event.name] as (unit: Unit, data: MarketplaceEvent['data'], at: Position) => void;
  handler(unit, event.data, at);
}

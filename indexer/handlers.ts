/** What each event changes, by the handler of its name. */
import type { MarketplaceEvent } from '../app/sdk/program/eventFields.ts';
import { archives } from './handlers/archives.ts';
import { config } from './handlers/config.ts';
import { disputes } from './handlers/disputes.ts';
import { executions } from './handlers/executions.ts';
import { grants } from './handlers/grants.ts';
import type { Db, Handlers, Position } from './handlers/handler.ts';
import { listings } from './handlers/listings.ts';

/** Exhaustive: an event without a handler does not compile. */
const HANDLERS: Handlers = { ...config, ...listings, ...grants, ...executions, ...disputes, ...archives };

/** Writes what one event says. Throws MissingRow where it is about a row that is not there. */
export async function handleEvent(db: Db, event: MarketplaceEvent, at: Position): Promise<void> {
  // The union's name and data belong together, which TypeScript cannot follow through an index.
  const handler = HANDLERS[event.name] as (db: Db, data: MarketplaceEvent['data'], at: Position) => Promise<void>;
  await handler(db, event.data, at);
}

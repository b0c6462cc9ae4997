/** Renders rows of the outbox as events for webhooks and streams. */
import type { MarketplaceEvent } from '../../sdk/wire/events.ts';
import { toTimeOfMs } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import type { EventRow } from '../ledger/events.ts';

const PREFIX = 'evt_';

export const eventIdOf = (position: bigint): string => `${PREFIX}${position}`;

/** The position in an event's id; null if the text is not an id. */
export function positionOf(id: string): bigint | null {
  return /^evt_(0|[1-9][0-9]{0,15})$/.test(id) ? BigInt(id.slice(PREFIX.length)) : null;
}

/** The event for a row. Its JSON never changes, so that a repeated webhook has the same body. */
export function toEvent(row: EventRow): MarketplaceEvent {
  const { type, execution_id, listing, cost, error_code } = row;
  const data =
    row.data === null
      ? { execution_id, agent_id: listing, status: type.split('.')[1], cost_usdc: toUsdc(cost ?? 0n), error_code }
      : JSON.parse(row.data);
  return { id: eventIdOf(row.position), type, timestamp: toTimeOfMs(row.created_ms), data } as MarketplaceEvent;
}

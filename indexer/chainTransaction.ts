import type { MarketplaceEvent } from '../app/sdk/program/eventFields.ts';
import type { AccountRows } from './accounts.ts';

/** One transaction of the chain as it is to be written. `failed` ones changed nothing but move the cursor. */
export interface ChainTransaction {
  signature: string;
  slot: bigint;
  content:
    | { kind: 'failed' }
    /** With the snapshot where the events are about accounts that no transaction before this one made. */
    | { kind: 'events'; events: MarketplaceEvent[]; snapshot?: AccountRows }
    /** With the events that the program carried in calls to itself, which need no log. */
    | { kind: 'accounts'; snapshot: AccountRows; carried: MarketplaceEvent[] };
}

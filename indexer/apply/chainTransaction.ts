import type { MarketplaceEvent } from '../../app/sdk/program/eventFields.ts';
import type { ArchiveRow } from '../queries/tables.ts';
import type { AccountRows } from './readings.ts';

/**
 * One transaction of the chain, ready to be written. A `failed` one only moves the cursor. An `unreadable` one leaves a
 * gap, which is closed once it can be read; the archives' rows show if it may have added leaves.
 */
export interface ChainTransaction {
  signature: string;
  slot: bigint;
  content:
    | { kind: 'failed' }
    | { kind: 'unreadable'; reason: string; archives: ArchiveRow[] }
    /** Has a snapshot if the events are about accounts whose creation is not indexed. */
    | { kind: 'events'; events: MarketplaceEvent[]; snapshot?: AccountRows }
    /** Includes the events that the program carried in calls to itself, which do not depend on the log. */
    | { kind: 'accounts'; snapshot: AccountRows; carried: MarketplaceEvent[] };
}

/** A transaction to be applied after later ones. If it can be read, its accounts have been read too. */
export type LateTransaction = ChainTransaction & { content: { kind: 'unreadable' } | { snapshot: AccountRows } };

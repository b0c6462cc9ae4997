/** The admin view's URL: its tab, and the filters of its lists. */
import { DISPUTE_OUTCOMES, type DisputeOutcome } from '../../../sdk/wire/choices.ts';

export const ADMIN_TABS = ['state', 'disputes', 'creators', 'settings', 'log'] as const;
export type AdminTab = (typeof ADMIN_TABS)[number];

/** Rows per page of its lists. */
export const PAGE_SIZE = 20;

export interface AdminSearch {
  tab?: AdminTab;
  /** For disputes. */
  outcome?: DisputeOutcome;
  /** For disputes: a wallet, whose agents they are about. */
  creator?: string;
  /** For creators: words of a name, or a wallet. */
  q?: string;
  /** For creators: with the badge, or without it. */
  verified?: boolean;
  /** For the log of actions: only reads, or all others. */
  reads?: boolean;
  page?: number;
  /** For the log: the page of transactions. */
  events?: number;
}

/** The valid parameters of the URL; others are ignored. */
export function parseAdminSearch({
  tab,
  outcome,
  creator,
  q,
  verified,
  reads,
  page,
  events,
}: Record<string, unknown>): AdminSearch {
  return {
    ...(ADMIN_TABS.some((name) => name === tab) && tab !== 'state' && { tab: tab as AdminTab }),
    ...(DISPUTE_OUTCOMES.some((name) => name === outcome) && { outcome: outcome as DisputeOutcome }),
    ...(typeof creator === 'string' && { creator }),
    ...(typeof q === 'string' && q.trim() !== '' && { q: q.slice(0, 100) }),
    ...(typeof verified === 'boolean' && { verified }),
    ...(typeof reads === 'boolean' && { reads }),
    ...(typeof page === 'number' && page > 1 && { page: Math.floor(page) }),
    ...(typeof events === 'number' && events > 1 && { events: Math.floor(events) }),
  };
}

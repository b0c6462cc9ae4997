/** Which part of the admin's page is shown, and of its lists what, as the address has it. */
import { DISPUTE_OUTCOMES, type DisputeOutcome } from '../../../sdk/wire/choices.ts';

export const ADMIN_TABS = ['state', 'disputes', 'creators', 'settings'] as const;
export type AdminTab = (typeof ADMIN_TABS)[number];

/** Rows of one page of its lists. */
export const PAGE_SIZE = 20;

export interface AdminSearch {
  tab?: AdminTab;
  /** Of disputes. */
  outcome?: DisputeOutcome;
  /** Of creators: words of a name, or a wallet. */
  q?: string;
  page?: number;
}

/** Whatever is in the address that makes sense; the rest is left out. */
export function parseAdminSearch({ tab, outcome, q, page }: Record<string, unknown>): AdminSearch {
  return {
    ...(ADMIN_TABS.some((name) => name === tab) && tab !== 'state' && { tab: tab as AdminTab }),
    ...(DISPUTE_OUTCOMES.some((name) => name === outcome) && { outcome: outcome as DisputeOutcome }),
    ...(typeof q === 'string' && q.trim() !== '' && { q: q.slice(0, 100) }),
    ...(typeof page === 'number' && page > 1 && { page: Math.floor(page) }),
  };
}

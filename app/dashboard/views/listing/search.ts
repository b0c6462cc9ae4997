/** The URL of a creator's agent: its tab, the shown calls, and the page of its disputes. */
import { EXECUTION_ID } from '../../../sdk/wire/choices.ts';

export const TABS = ['overview', 'received', 'disputes', 'edit', 'test', 'settings'] as const;
export type Tab = (typeof TABS)[number];

export interface ListingSearch {
  /** The overview if missing. */
  tab?: Exclude<Tab, 'overview'>;
  /** Only failed calls. */
  failed?: true;
  /** Only the call with this id. */
  call?: string;
  /** Of the disputes. */
  page?: number;
}

export function parseListingSearch({ tab, failed, call, page }: Record<string, unknown>): ListingSearch {
  const known = TABS.find((name) => name === tab);
  return {
    ...(known && known !== 'overview' && { tab: known }),
    ...(failed === true && { failed }),
    ...(typeof call === 'string' && EXECUTION_ID.test(call) && { call }),
    ...(typeof page === 'number' && page > 1 && { page: Math.floor(page) }),
  };
}

/** The URL of a creator's agent: its tab, and the filter of its calls. */

export const TABS = ['overview', 'received', 'edit', 'test', 'settings'] as const;
export type Tab = (typeof TABS)[number];

export interface ListingSearch {
  /** The overview if missing. */
  tab?: Exclude<Tab, 'overview'>;
  /** Only refunded calls. */
  failed?: true;
}

export function parseListingSearch({ tab, failed }: Record<string, unknown>): ListingSearch {
  const known = TABS.find((name) => name === tab);
  return { ...(known && known !== 'overview' && { tab: known }), ...(failed === true && { failed }) };
}

/** What the catalogue is filtered and sorted by, as its address has it: the API's own filters. */
import { AGENT_SORTS, type AgentsQuery } from '../../sdk/wire/queries.ts';

export interface CatalogueSearch {
  q?: string;
  tags?: string;
  sort?: AgentsQuery['sort'];
  verified?: true;
  /** From 0 to 1. */
  success?: number;
  page?: number;
}

/** Whatever is in the address that makes sense; the rest is left out. */
export function parseCatalogueSearch(search: Record<string, unknown>): CatalogueSearch {
  const { q, tags, sort, verified, success, page } = search;
  return {
    ...(typeof q === 'string' && q.trim() !== '' && { q: q.slice(0, 100) }),
    ...(typeof tags === 'string' && tags !== '' && { tags }),
    ...(AGENT_SORTS.some((name) => name === sort) && { sort: sort as AgentsQuery['sort'] }),
    ...(verified === true && { verified }),
    ...(typeof success === 'number' && success > 0 && success <= 1 && { success }),
    ...(typeof page === 'number' && page > 1 && { page: Math.floor(page) }),
  };
}

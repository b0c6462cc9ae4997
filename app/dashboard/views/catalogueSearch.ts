/** The catalogue's filters and order in its URL: the API's own filters. */
import type { RouteInput } from '../../sdk/client/client.ts';
import { AGENT_SORTS } from '../../sdk/wire/choices.ts';
import type { AgentsQuery } from '../../sdk/wire/queries.ts';

export interface CatalogueSearch {
  q?: string;
  /** Separated by commas. Only agents with all of them match. */
  tags?: string;
  sort?: AgentsQuery['sort'];
  verified?: true;
  /** From 0 to 1. */
  success?: number;
  /** Minimum number of calls. */
  calls?: number;
  /** A wallet. */
  creator?: string;
  page?: number;
}

/** The page's default order: agents that work come first. */
export const PAGE_SORT = 'best';
/** Cards per page: fills rows of three and of two. */
export const PAGE_SIZE = 24;

/** The valid parameters of the URL; others are ignored. */
export function parseCatalogueSearch(search: Record<string, unknown>): CatalogueSearch {
  const { tags, sort, verified, success, calls, creator, page } = search;
  // The URL parser turns digits into a number, which may be a search text.
  const q = typeof search.q === 'number' ? String(search.q) : search.q;
  return {
    ...(typeof q === 'string' && q.trim() !== '' && { q: q.slice(0, 100) }),
    ...(typeof tags === 'string' && tags !== '' && { tags }),
    ...(AGENT_SORTS.some((name) => name === sort) && { sort: sort as AgentsQuery['sort'] }),
    ...(verified === true && { verified }),
    ...(typeof success === 'number' && success > 0 && success <= 1 && { success }),
    ...(typeof calls === 'number' && calls >= 1 && { calls: Math.floor(calls) }),
    ...(typeof creator === 'string' && creator !== '' && { creator }),
    ...(typeof page === 'number' && page > 1 && { page: Math.floor(page) }),
  };
}

/** Converts it to the filters of GET /v1/agents. */
export function filtersOf(search: CatalogueSearch): RouteInput<'listAgents'> {
  const { q, tags, sort, verified, success, calls, creator, page = 1 } = search;
  return {
    limit: PAGE_SIZE,
    ...(page > 1 && { offset: (page - 1) * PAGE_SIZE }),
    ...(q && { q: q.trim() }),
    ...(tags && { tags }),
    sort: sort ?? PAGE_SORT,
    ...(verified && { verified_only: true }),
    ...(success && { min_success_rate: success }),
    ...(calls && { min_executions: calls }),
    ...(creator && { creator }),
  };
}

export const tagsOf = ({ tags }: CatalogueSearch): string[] => (tags ? tags.split(',').filter(Boolean) : []);

/** True if there are filters besides order and page. */
export const isFiltered = ({ sort: _sort, page: _page, ...filters }: CatalogueSearch): boolean =>
  Object.keys(filters).length > 0;

/** True if agents for tests stand apart: nobody has asked for them by words, a tag or their creator. */
export const hidesTests = ({ q, tags, creator }: CatalogueSearch): boolean => !q && !tags && !creator;

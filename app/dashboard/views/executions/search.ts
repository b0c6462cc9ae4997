/** The URL of the list of calls: its filters, converted to the API's, and the calls that they leave. */
import type { RouteInput } from '../../../sdk/client/client.ts';
import { MarketplaceError } from '../../../sdk/client/error.ts';
import { EXECUTION_ID, EXECUTION_STATUSES, type ExecutionStatus, IDEMPOTENCY_KEY } from '../../../sdk/wire/choices.ts';
import { DAY_MS } from '../../../sdk/wire/time.ts';
import type { ExecutionPage } from '../../../sdk/wire/wire.ts';
import { request } from '../../service.ts';

export interface ExecutionsSearch {
  /** A call ID or an Idempotency-Key, without other filters. */
  find?: string;
  status?: ExecutionStatus;
  agent?: string;
  /** Id of an API key, 32 hex digits. */
  key?: string;
  /** UTC days as in the statements, such as 2026-01-31, both inclusive. */
  from?: string;
  to?: string;
  page?: number;
}

export const PAGE_SIZE = 25;

export function parseExecutionsSearch(search: Record<string, unknown>): ExecutionsSearch {
  const { agent, page } = search;
  const find = matching(search.find, IDEMPOTENCY_KEY);
  if (find) return { find };
  const status = EXECUTION_STATUSES.find((one) => one === search.status);
  const key = matching(search.key, /^[0-9a-f]{32}$/);
  const [from, to] = [dayOf(search.from), dayOf(search.to)];
  return {
    ...(status && { status }),
    ...(typeof agent === 'string' && agent !== '' && { agent }),
    ...(key && { key }),
    ...(from && { from }),
    ...(to && { to }),
    ...(typeof page === 'number' && page > 1 && { page: Math.floor(page) }),
  };
}

/** A page of these calls. A call ID may also be somebody's Idempotency-Key. */
export async function listCalls(search: ExecutionsSearch, part?: { limit: number; offset: number }) {
  const id = search.find?.toLowerCase() ?? '';
  if (EXECUTION_ID.test(id)) {
    try {
      const execution = await request('getExecution', { execution_id: id });
      return { executions: [execution], total: 1, limit: 1, offset: 0 } satisfies ExecutionPage;
    } catch (error) {
      if (!(error instanceof MarketplaceError && error.status === 404)) throw error;
    }
  }
  return request('listExecutions', { ...filtersOf(search), ...part });
}

function filtersOf({ find, status, agent, key, from, to, page = 1 }: ExecutionsSearch): RouteInput<'listExecutions'> {
  return {
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    ...(find && { idempotency_key: find }),
    ...(status && { status }),
    ...(agent && { agent_id: agent }),
    ...(key && { key_id: key }),
    // The API's bounds are exclusive.
    ...(from && { from: new Date(Date.parse(from) - 1_000).toISOString() }),
    ...(to && { to: new Date(Date.parse(to) + DAY_MS).toISOString() }),
  };
}

const matching = (value: unknown, form: RegExp): string | undefined =>
  typeof value === 'string' && form.test(value) ? value : undefined;

const dayOf = (value: unknown): string | undefined =>
  Number.isNaN(Date.parse(String(value))) ? undefined : matching(value, /^\d{4}-\d{2}-\d{2}$/);

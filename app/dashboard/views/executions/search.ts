/** The URL of the list of calls: its filters, converted to the API's. */
import type { RouteInput } from '../../../sdk/client/client.ts';
import { EXECUTION_STATUSES, type ExecutionStatus } from '../../../sdk/wire/choices.ts';

export interface ExecutionsSearch {
  status?: ExecutionStatus;
  agent?: string;
  /** Id of an API key, 32 hex digits. */
  key?: string;
  /** Days of the visitor's calendar, such as 2026-01-31, both inclusive. */
  from?: string;
  to?: string;
  page?: number;
}

export const PAGE_SIZE = 25;

export function parseExecutionsSearch(search: Record<string, unknown>): ExecutionsSearch {
  const { status, agent, key, from, to, page } = search;
  return {
    ...(isStatus(status) && { status }),
    ...(typeof agent === 'string' && agent !== '' && { agent }),
    ...(isKey(key) && { key }),
    ...(isDay(from) && { from }),
    ...(isDay(to) && { to }),
    ...(typeof page === 'number' && page > 1 && { page: Math.floor(page) }),
  };
}

export function filtersOf({ status, agent, key, from, to, page = 1 }: ExecutionsSearch): RouteInput<'listExecutions'> {
  return {
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    ...(status && { status }),
    ...(agent && { agent_id: agent }),
    ...(key && { key_id: key }),
    // The API's bounds are exclusive.
    ...(from && { from: new Date(startOfDay(from).getTime() - 1_000).toISOString() }),
    ...(to && { to: startOfDay(to, 1).toISOString() }),
  };
}

function startOfDay(day: string, later = 0): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + later);
}

function isStatus(value: unknown): value is ExecutionStatus {
  return EXECUTION_STATUSES.some((status) => status === value);
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{32}$/.test(value);
}

function isDay(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(startOfDay(value).getTime());
}

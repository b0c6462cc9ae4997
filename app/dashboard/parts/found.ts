/** What the search finds: agents, and calls of the wallet. */
import { queryOptions } from '@tanstack/react-query';
import type { AgentSummary, ExecutionSummary } from '../../sdk/wire/wire.ts';
import { queryClient, request } from '../service.ts';
import { isForTests } from './badges.tsx';
import { pauseInTyping } from './reading.ts';

const MOST_AGENTS = 6;
/** Calls that are searched, which is one page of the API, and calls that are shown. */
const LATEST_CALLS = 100;
const MOST_CALLS = 4;
/** Time for which these calls are not read again, ms. */
const LATEST_MS = 10_000;
/** Characters of an id from which on it is sought by them. */
const ID_CHARACTERS = 4;

/** Agents for testing last. */
const byUse = (one: AgentSummary, other: AgentSummary): number => Number(isForTests(one)) - Number(isForTests(other));

const latestCalls = (wallet: string | null | undefined): Promise<ExecutionSummary[]> =>
  wallet
    ? queryClient.fetchQuery({
        queryKey: ['executions', 'latest', wallet],
        queryFn: async () => (await request('listExecutions', { limit: LATEST_CALLS })).executions,
        staleTime: LATEST_MS,
      })
    : Promise.resolve([]);

export const includes = (text: string | null, sought: string): boolean =>
  text?.toLowerCase().includes(sought.toLowerCase()) ?? false;

/** By the beginning or the end of an id, or by both as lists show it. */
function hasId(id: string, sought: string): boolean {
  const [first = '', last] = sought.toLowerCase().split('…');
  if (last !== undefined) return id.startsWith(first) && id.endsWith(last);
  return first.length >= ID_CHARACTERS && (id.startsWith(first) || id.endsWith(first));
}

/** Agents, and those of the wallet's calls that the sought words name. They come together, so nothing moves. */
export const foundQuery = (sought: string, wallet: string | null | undefined) =>
  queryOptions({
    queryKey: ['agents', 'found', sought, wallet],
    queryFn: async ({ signal }) => {
      await pauseInTyping(signal);
      const [{ agents }, latest] = await Promise.all([
        request('listAgents', { q: sought.slice(0, 100), sort: 'best', limit: MOST_AGENTS }),
        latestCalls(wallet),
      ]);
      const calls = latest.filter(
        ({ execution_id, task, agent_name }) =>
          includes(task, sought) || includes(agent_name, sought) || hasId(execution_id, sought),
      );
      return { agents: agents.toSorted(byUse), calls: calls.slice(0, MOST_CALLS) };
    },
  });

/** Numbers of things that run or wait for somebody, as badges of links and buttons. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call, request } from '../service.ts';
import { pollMs } from '../wallet/events.ts';
import { useSession } from '../wallet/session.ts';
import type { Place } from './places.ts';
import { Badge } from './ui.tsx';

const DISPUTES_MS = 60_000;
/** Disputes that are read at once; open ones come first. */
const FIRST_DISPUTES = 100;
/** Open disputes that the admin's overview shows. */
export const OPEN_SHOWN = 3;

/** The number of running calls of the wallet, wherever they were started. */
function Running() {
  const { wallet } = useSession();
  const { data } = useQuery({
    queryKey: ['executions', 'running', wallet],
    queryFn: () => request('listExecutions', { status: 'running', limit: 1 }),
    refetchInterval: pollMs,
    enabled: Boolean(wallet),
  });
  if (!wallet || !data?.total) return null;
  return <Badge tone="accent">{data.total} running</Badge>;
}

/** The first disputes that the wallet opened, and those about its agents. */
export const firstDisputesQuery = (wallet: string | null | undefined) =>
  queryOptions({
    queryKey: ['disputes.mine', 'first', wallet],
    queryFn: () => call('disputes.mine', { limit: FIRST_DISPUTES }),
    refetchInterval: DISPUTES_MS,
    enabled: Boolean(wallet),
  });

/** The state of the deployment, for the admin. Reading it is not logged. */
export const stateQuery = queryOptions({
  queryKey: ['operation.state'],
  queryFn: () => call('operation.state'),
  refetchInterval: DISPUTES_MS,
});

/** The first open disputes by due time. For the admin, whose log has a line for each reading: so it is not polled. */
export const openQueueQuery = queryOptions({
  queryKey: ['disputes.queue', 'open'],
  queryFn: () => call('disputes.queue', { outcome: 'open', limit: OPEN_SHOWN }),
});

/**
 * `own`: open disputes of this wallet, as caller or creator, up to FIRST_DISPUTES. `queue`: all open disputes, and
 * `toDecide` those that wait for the admin and not for a side to write; 0 for others.
 */
export function useOpenDisputes(): { own: number; queue: number; toDecide: number } {
  const { wallet, isAdmin } = useSession();
  const own = useQuery(firstDisputesQuery(wallet));
  const state = useQuery({ ...stateQuery, enabled: isAdmin });
  const open = own.data?.disputes.filter(({ outcome }) => outcome === 'open') ?? [];
  const { open_disputes = 0, waiting_disputes = 0 } = (isAdmin && state.data) || {};
  return { own: open.length, queue: open_disputes, toDecide: open_disputes - waiting_disputes };
}

/** What waits behind the link of a place. */
export function WaitingAt({ to }: Pick<Place, 'to'>) {
  if (to === '/executions') return <Running />;
  if (to === '/creator') return <Unanswered />;
  return to === '/disputes' || to === '/admin' ? <OpenAt to={to} /> : null;
}

function OpenAt({ to }: { to: '/disputes' | '/admin' }) {
  const { own, queue } = useOpenDisputes();
  const count = to === '/admin' ? queue : own;
  if (count === 0) return null;
  return (
    <Badge tone="warn">
      {count} <span className="max-sm:sr-only">open</span>
    </Badge>
  );
}

/** The number of open disputes about the wallet's agents that have no reply, up to FIRST_DISPUTES. */
export function useUnanswered(): number {
  const { wallet } = useSession();
  const { data } = useQuery(firstDisputesQuery(wallet));
  const waits = data?.disputes.filter(
    ({ outcome, creator, reply }) => outcome === 'open' && creator === wallet && reply === null,
  );
  return waits?.length ?? 0;
}

function Unanswered() {
  const count = useUnanswered();
  if (count === 0) return null;
  return (
    <Badge tone="warn" title="Open disputes without your reply">
      {count} {count === 1 ? 'dispute' : 'disputes'}
      <span className="sr-only"> without your reply</span>
    </Badge>
  );
}

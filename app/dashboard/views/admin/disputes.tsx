/** The queue of disputes: open ones first, by due time. */

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { DISPUTE_OUTCOMES, type DisputeOutcome } from '../../../sdk/wire/choices.ts';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { Pages } from '../../parts/pages.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Empty, Select, Skeleton } from '../../parts/ui.tsx';
import { formatAmount, shorten, Time } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { Due } from './due.tsx';
import { PAGE_SIZE } from './search.ts';

/** Poll interval, ms. The list reads the index, which follows the chain. */
const REFRESH_MS = 5_000;

const OUTCOME_WORDS: Record<DisputeOutcome, string> = {
  open: 'Open',
  rejected: 'Rejected',
  upheld: 'Upheld',
  lapsed: 'Ended undecided',
};

export function DisputesTab() {
  const { outcome, page = 1 } = useSearch({ from: '/admin' });
  const navigate = useNavigate({ from: '/admin' });
  const { data, error, refetch } = useQuery({
    queryKey: ['disputes.queue', outcome, page],
    queryFn: () =>
      call('disputes.queue', { ...(outcome && { outcome }), limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <div className="grid gap-5">
      <div className="w-full sm:w-56">
        <Select
          label="Outcome"
          value={outcome ?? ''}
          onChange={({ target }) =>
            void navigate({
              search: { tab: 'disputes', ...(target.value && { outcome: target.value as DisputeOutcome }) },
            })
          }
        >
          <option value="">All, open ones first</option>
          {DISPUTE_OUTCOMES.map((name) => (
            <option key={name} value={name}>
              {OUTCOME_WORDS[name]}
            </option>
          ))}
        </Select>
      </div>
      {error && <Trouble error={error} what="The disputes" onRetry={refetch} />}
      {!data && !error && [1, 2, 3].map((key) => <Skeleton key={key} className="h-22" />)}
      {data?.total === 0 && (
        <Empty title={outcome ? 'No dispute has this outcome' : 'There are no disputes'}>
          A caller can dispute a result while its dispute window is open. The dispute then waits here for your decision.
        </Empty>
      )}
      {data && data.total > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-raised">
          {data.disputes.map((dispute) => (
            <li key={dispute.execution_id}>
              <Row dispute={dispute} />
            </li>
          ))}
        </ul>
      )}
      {data && (
        <Pages
          page={page}
          size={PAGE_SIZE}
          names={['Previous', 'Next']}
          total={data.total}
          onPage={(next) => void navigate({ search: (before) => ({ ...before, page: next }) })}
        />
      )}
    </div>
  );
}

function Row({ dispute }: { dispute: DisputeSummary }) {
  return (
    <Link
      to="/admin/disputes/$executionId"
      params={{ executionId: dispute.execution_id }}
      className="flex flex-wrap items-center gap-x-6 gap-y-2 px-5 py-4 -outline-offset-2 hover:bg-sunken/60"
    >
      <span className="min-w-0 flex-1 basis-56">
        <span className="block font-medium">{dispute.agent_name ?? shorten(dispute.agent_id)}</span>
        <span className="mt-0.5 block text-sm text-faint">
          <span className="whitespace-nowrap">{shorten(dispute.caller)}</span> against creator{' '}
          <span className="whitespace-nowrap">{shorten(dispute.creator)}</span>, <Time at={dispute.opened_at} />
        </span>
        <code title={dispute.execution_id} className="mt-0.5 block font-mono text-xs text-faint">
          {shorten(dispute.execution_id)}
        </code>
      </span>
      <span className="text-sm sm:w-40">
        <span className="block">{dispute.reply === null ? 'No reply' : 'Creator replied'}</span>
        <span className="block text-faint">{dispute.has_evidence ? 'Evidence available' : 'Only the hash'}</span>
      </span>
      <span className="text-sm tabular-nums sm:w-24 sm:text-right">{formatAmount(dispute.price_usdc)}</span>
      <span className="grid justify-items-start gap-1 text-sm sm:w-44 sm:justify-items-end">
        <Due dispute={dispute} />
        {dispute.outcome === 'open' && (
          <span>
            by <Time at={dispute.answer_due_at} />
          </span>
        )}
      </span>
    </Link>
  );
}

/** The queue of disputes: open ones first, by due time. */

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { DISPUTE_OUTCOMES, type DisputeOutcome } from '../../../sdk/wire/choices.ts';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { formatterOf } from '../../parts/amount.ts';
import { FindCall } from '../../parts/findCall.tsx';
import { PagedTable } from '../../parts/pagedTable.tsx';
import { pageOf } from '../../parts/pages.tsx';
import { AtRight, Cell } from '../../parts/table.tsx';
import { Badge, buttonStyle, Empty, Select } from '../../parts/ui.tsx';
import { Id, shorten, Time } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { useCreatorName } from '../disputes/creatorName.ts';
import { Due, useMayWait } from './due.tsx';
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
  const query = useQuery({
    queryKey: ['disputes.queue', outcome, page],
    queryFn: () => call('disputes.queue', { ...(outcome && { outcome }), ...pageOf(page, PAGE_SIZE) }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const price = formatterOf(query.data?.disputes.map(({ price_usdc }) => price_usdc) ?? []);
  return (
    <div className="grid gap-5">
      <div className="grid items-end gap-3 sm:grid-cols-[14rem_20rem]">
        <Select
          label="Show"
          value={outcome ?? ''}
          onChange={({ target }) =>
            void navigate({
              search: { tab: 'disputes', ...(target.value && { outcome: target.value as DisputeOutcome }) },
            })
          }
        >
          <option value="">All, open first</option>
          {DISPUTE_OUTCOMES.map((name) => (
            <option key={name} value={name}>
              {OUTCOME_WORDS[name]}
            </option>
          ))}
        </Select>
        <FindCall
          onFind={(executionId) => void navigate({ to: '/admin/disputes/$executionId', params: { executionId } })}
        />
      </div>
      <PagedTable
        label="Disputes"
        hasCards
        head={['Dispute', 'Reply and evidence', <AtRight key="price">Price, USDC</AtRight>, 'Decide by / ended', '']}
        query={query}
        what="The disputes"
        className="h-64"
        empty={
          <Empty title={outcome ? 'No dispute has this outcome' : 'There are no disputes'}>
            A caller can dispute a result while its dispute window is open. The dispute then waits here for your
            decision.
          </Empty>
        }
        page={page}
        size={PAGE_SIZE}
        names={['Previous', 'Next']}
        onPage={(next) => void navigate({ search: (before) => ({ ...before, page: next }) })}
      >
        {query.data?.disputes.map((dispute) => (
          <Row key={dispute.execution_id} dispute={dispute} price={price(dispute.price_usdc)} />
        ))}
      </PagedTable>
    </div>
  );
}

function Row({ dispute, price }: { dispute: DisputeSummary; price: string }) {
  const { execution_id, outcome, answer_due_at, resolved_at } = dispute;
  const creator = useCreatorName(dispute);
  const isOpen = outcome === 'open';
  const isToDecide = !useMayWait(dispute) && isOpen;
  return (
    <tr>
      <td className="min-w-56">
        <span className="block font-medium">{dispute.agent_name ?? shorten(dispute.agent_id)}</span>
        <span className="block text-faint">
          <code className="font-mono text-[0.8125rem] whitespace-nowrap">{shorten(dispute.caller)}</code> against{' '}
          {creator}
        </span>
        <span className="flex flex-wrap items-center gap-x-3 text-faint">
          <span>
            Opened <Time at={dispute.opened_at} hasSeconds />
          </span>
          <Id value={execution_id} />
        </span>
      </td>
      <Cell of="Reply and evidence">
        <span>
          <span className="block">{dispute.reply === null ? 'No reply' : 'Creator replied'}</span>
          <span className="block text-faint">
            {dispute.has_evidence ? 'Evidence uploaded' : 'Evidence not uploaded'}
          </span>
        </span>
      </Cell>
      <Cell of="Price" className="whitespace-nowrap tabular-nums sm:text-right">
        <span>
          {price}
          <span className="sm:hidden"> USDC</span>
        </span>
      </Cell>
      <Cell of={isOpen ? 'Decide by' : 'Ended'}>
        {isOpen ? (
          <span className="grid justify-items-start gap-1">
            <Time at={answer_due_at} />
            <Due dispute={dispute} />
          </span>
        ) : (
          <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <Badge>{OUTCOME_WORDS[outcome]}</Badge>
            {resolved_at !== null && <Time at={resolved_at} />}
          </span>
        )}
      </Cell>
      <td className="sm:text-right">
        <Link
          to="/admin/disputes/$executionId"
          params={{ executionId: execution_id }}
          className={buttonStyle(isToDecide ? 'primary' : 'plain', true)}
        >
          {isToDecide ? 'Decide' : 'Read'}
          <span className="sr-only">: dispute {shorten(execution_id)}</span>
        </Link>
      </td>
    </tr>
  );
}

/** The queue of disputes: open ones first, by due time. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { DISPUTE_OUTCOMES } from '../../../sdk/wire/choices.ts';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatNumber, formatterOf } from '../../parts/amount.ts';
import { FindCall } from '../../parts/findCall.tsx';
import { PagedTable } from '../../parts/pagedTable.tsx';
import { pageOf } from '../../parts/pages.tsx';
import { AtRight, Cell } from '../../parts/table.tsx';
import { Badge, buttonStyle, cx, Empty, Select, Skeleton } from '../../parts/ui.tsx';
import { asSentence, Id, shorten, Time } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { OUTCOME_WORDS } from '../disputes/outcomes.tsx';
import { mostSlashed, stakesQuery } from '../disputes/stakes.ts';
import { CallOf } from '../executions/dispute.tsx';
import { Due, useWaitUntil } from './due.tsx';
import { AgentLink, CaseLink, CreatorLink, useCreatorName } from './parties.tsx';
import { PAGE_SIZE, parseAdminSearch } from './search.ts';

/** Poll interval, ms. The list reads the index, which follows the chain. */
const REFRESH_MS = 5_000;

export function DisputesTab() {
  const { outcome, creator, page = 1 } = useSearch({ from: '/admin' });
  const navigate = useNavigate({ from: '/admin' });
  const query = useQuery({
    queryKey: ['disputes.queue', outcome, creator, page],
    queryFn: () => call('disputes.queue', { outcome, creator, ...pageOf(page, PAGE_SIZE) }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const price = formatterOf(query.data?.disputes.map(({ price_usdc }) => price_usdc) ?? []);
  return (
    <div className="grid gap-5">
      <div className="grid items-end gap-3 sm:grid-cols-[20rem_14rem]">
        <FindCall
          onFind={(executionId) => void navigate({ to: '/admin/disputes/$executionId', params: { executionId } })}
        />
        <Select
          label="Show"
          value={outcome ?? ''}
          onChange={({ target }) =>
            void navigate({ search: parseAdminSearch({ tab: 'disputes', outcome: target.value, creator }) })
          }
        >
          <option value="">All, open first</option>
          {DISPUTE_OUTCOMES.map((name) => (
            <option key={name} value={name}>
              {asSentence(OUTCOME_WORDS[name])}
            </option>
          ))}
        </Select>
      </div>
      {creator !== undefined && (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
          <span>
            Of <CreatorLink wallet={creator} name={shorten(creator)} />
          </span>
          <Link to="/admin" search={{ tab: 'disputes', outcome }} className={buttonStyle('plain', true)}>
            Show all creators
          </Link>
        </p>
      )}
      <PagedTable
        label="Disputes"
        hasCards
        head={[
          'Dispute',
          'Reply and evidence',
          <AtRight key="price">Price, USDC</AtRight>,
          <AtRight key="stake">From collateral, USDC</AtRight>,
          'Decide by / ended',
          '',
        ]}
        query={query}
        what="The disputes"
        className="h-64"
        empty={
          <Empty title={outcome || creator ? 'No dispute matches' : 'There are no disputes'}>
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

const CreatorOf = ({ dispute }: { dispute: DisputeSummary }) => (
  <CreatorLink wallet={dispute.creator} name={useCreatorName(dispute)} />
);

function Row({ dispute, price }: { dispute: DisputeSummary; price: string }) {
  const { outcome, answer_due_at, resolved_at } = dispute;
  const waitUntil = useWaitUntil(dispute);
  const isOpen = outcome === 'open';
  return (
    <tr>
      <td className="min-w-56">
        <span className="block font-medium">
          <AgentLink dispute={dispute} />
        </span>
        <span className="block text-faint">
          Caller <Id value={dispute.caller} />{' '}
          <span className="inline-block">
            against <CreatorOf dispute={dispute} />
          </span>
        </span>
        <span className="flex flex-wrap items-center gap-x-3 text-faint">
          <span>
            Opened <Time at={dispute.opened_at} hasSeconds />
          </span>
          <CallOf dispute={dispute} reader="admin" />
        </span>
      </td>
      <Cell of="Reply and evidence">
        <span>
          <span className="block">{dispute.reply === null ? 'No reply' : 'Creator replied'}</span>
          <span className="block text-faint">
            {dispute.has_evidence ? 'Evidence uploaded' : 'Evidence not uploaded'}
          </span>
          {waitUntil !== null && (
            <span className="block">
              Wait until <Time at={waitUntil} />
            </span>
          )}
        </span>
      </Cell>
      <Cell of="Price" className="whitespace-nowrap tabular-nums sm:text-right">
        <span>
          {price}
          <span className="sm:hidden"> USDC</span>
        </span>
      </Cell>
      <Cell
        of="From collateral"
        className={cx('whitespace-nowrap tabular-nums sm:text-right', !isOpen && 'max-sm:hidden')}
      >
        {isOpen ? <AtStake dispute={dispute} /> : <span className="text-faint">–</span>}
      </Cell>
      <Cell of={isOpen ? 'Decide by' : 'Ended'}>
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Badge tone={isOpen ? 'warn' : 'plain'}>{asSentence(OUTCOME_WORDS[outcome])}</Badge>
          {isOpen && <Due dispute={dispute} />}
          {isOpen ? <Time at={answer_due_at} /> : resolved_at !== null && <Time at={resolved_at} />}
        </span>
      </Cell>
      <td className="sm:text-right">
        <CaseLink dispute={dispute} small />
      </td>
    </tr>
  );
}

/** The most of the agent's collateral that a decision can take. */
function AtStake({ dispute: { agent_id, execution_id, price_usdc } }: { dispute: DisputeSummary }) {
  const { data: stakes, isError } = useQuery(stakesQuery(agent_id, execution_id));
  if (!stakes)
    return isError ? <span className="text-faint">unknown</span> : <Skeleton className="h-5 w-12 sm:ml-auto" />;
  return (
    <span>
      up to {formatNumber(toUsdc(mostSlashed(stakes, parseUsdc(price_usdc))))}
      <span className="sm:hidden"> USDC</span>
    </span>
  );
}

/** A wallet's executions: filtered, in pages, newest first. */
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ExecutionSummary } from '../../sdk/wire/wire.ts';
import { SignedIn } from '../parts/connect.tsx';
import { Pages } from '../parts/pages.tsx';
import { StatementButton } from '../parts/statement.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { Button, buttonStyle, Empty, PageHead, Skeleton, Table } from '../parts/ui.tsx';
import { formatAmount, Status, shorten, Time } from '../parts/values.tsx';
import { request } from '../service.ts';
import { pollMs } from '../wallet/events.ts';
import { useSession } from '../wallet/session.ts';
import { Filters } from './executions/filters.tsx';
import { type ExecutionsSearch, filtersOf, PAGE_SIZE } from './executions/search.ts';

const route = getRouteApi('/executions');

const executionsQuery = (wallet: string | null | undefined, search: ExecutionsSearch) =>
  queryOptions({
    queryKey: ['executions', wallet, search],
    queryFn: () => request('listExecutions', filtersOf(search)),
    refetchInterval: ({ state }) =>
      state.data?.executions.some(({ status }) => status === 'pending' || status === 'running') ? pollMs() : false,
    placeholderData: keepPreviousData,
  });

export default function View() {
  const { wallet } = useSession();
  return (
    <>
      <PageHead title="Executions" about="Everything that this wallet or its keys have paid for, with the outcome.">
        {wallet && (
          <Link to="/spend" className={buttonStyle()}>
            Spend
          </Link>
        )}
        <StatementButton as="caller" />
      </PageHead>
      <SignedIn why="Every call of your wallet and its keys is listed here, with its outcome, cost and receipt. Only your wallet can see them.">
        <Executions />
      </SignedIn>
    </>
  );
}

function Executions() {
  const { wallet } = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(executionsQuery(wallet, search));
  const { page = 1, ...filters } = search;
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <Filters search={search} found={data?.executions ?? []} onChange={(next) => navigate({ search: next })} />
      {error && !data && <Trouble error={error} what="The executions" onRetry={refetch} />}
      {!data && !error && <Skeleton className="h-96" />}
      {data?.executions.length === 0 &&
        (isFiltered || page > 1 ? (
          <Empty title="No execution fits these filters">
            <Button className="mt-3" onClick={() => navigate({ search: {} })}>
              Show all executions
            </Button>
          </Empty>
        ) : (
          <Empty title="No executions yet">
            <p className="mb-5">
              Choose an agent and run it from this page, or call it with an API key. The price is held in escrow until
              the agent's signed result arrives.
            </p>
            <Link to="/" className={buttonStyle('primary')}>
              Find an agent
            </Link>
          </Empty>
        ))}
      {data && data.executions.length > 0 && (
        <>
          <Rows executions={data.executions} />
          <Pages
            page={page}
            size={PAGE_SIZE}
            total={data.total}
            onPage={(next) => navigate({ search: { ...filters, ...(next > 1 && { page: next }) } })}
          />
        </>
      )}
    </>
  );
}

/** Head of the column of costs, which are 0 after a refund. */
const COST = (
  <span key="cost" className="block text-right">
    Cost
  </span>
);
/** Before the escrow is open, the price is unknown. */
const costOf = ({ status, cost_usdc }: ExecutionSummary): string =>
  cost_usdc === 0 && (status === 'pending' || status === 'running') ? '–' : formatAmount(cost_usdc);
const HEAD = ['Agent', 'Status', COST, 'Opened', 'Execution'];

/** A table if there is space, else cards. */
function Rows({ executions }: { executions: ExecutionSummary[] }) {
  return (
    <>
      <div className="hidden md:block">
        <Table label="Executions" head={HEAD}>
          {executions.map((execution) => (
            <tr key={execution.execution_id} className="relative hover:bg-sunken">
              <td className="font-medium">
                <ExecutionLink execution={execution} />
              </td>
              <td>
                <Status value={execution.status} />
              </td>
              <td className="text-right whitespace-nowrap tabular-nums">{costOf(execution)}</td>
              <td className="whitespace-nowrap">
                <Time at={execution.initiated_at} />
              </td>
              <td className="font-mono text-[0.8125rem] text-faint" title={execution.execution_id}>
                {execution.execution_id.slice(0, 8)}
              </td>
            </tr>
          ))}
        </Table>
      </div>
      <ul className="grid gap-2 md:hidden">
        {executions.map((execution) => (
          <li
            key={execution.execution_id}
            className="relative grid gap-2 rounded-xl border border-line bg-raised p-4 text-sm"
          >
            <div className="flex items-start justify-between gap-3">
              <span className="font-medium">
                <ExecutionLink execution={execution} />
              </span>
              <Status value={execution.status} />
            </div>
            <div className="flex flex-wrap justify-between gap-x-3 text-faint">
              <Time at={execution.initiated_at} />
              <span className="tabular-nums">{costOf(execution)}</span>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

/** A link that covers the whole row or card, which must be `relative`. */
function ExecutionLink({ execution }: { execution: ExecutionSummary }) {
  return (
    <Link
      to="/executions/$executionId"
      params={{ executionId: execution.execution_id }}
      className="after:absolute after:inset-0"
    >
      {execution.agent_name ?? shorten(execution.agent_id)}
    </Link>
  );
}

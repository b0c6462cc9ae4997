/** A wallet's calls: filtered, in pages, newest first, and as a CSV file. */
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { EXECUTION_ID } from '../../sdk/wire/choices.ts';
import { SignedIn } from '../parts/connect.tsx';
import { Pages } from '../parts/pages.tsx';
import { SaveButton } from '../parts/saveButton.tsx';
import { SharedNote } from '../parts/sharedNote.tsx';
import { StatementButton } from '../parts/statement.tsx';
import { Unread } from '../parts/trouble.tsx';
import { Button, buttonStyle, Empty, PageHead } from '../parts/ui.tsx';
import { pollMs } from '../wallet/events.ts';
import { useSession } from '../wallet/session.ts';
import { Filters } from './executions/filters.tsx';
import { Rows } from './executions/rows.tsx';
import { type ExecutionsSearch, listCalls, PAGE_SIZE } from './executions/search.ts';

const route = getRouteApi('/executions');

const executionsQuery = (wallet: string | null | undefined, search: ExecutionsSearch) =>
  queryOptions({
    queryKey: ['executions', wallet, search],
    queryFn: () => listCalls(search),
    refetchInterval: ({ state }) =>
      state.data?.executions.some(({ status }) => status === 'pending' || status === 'running') ? pollMs() : false,
    placeholderData: keepPreviousData,
  });

const unfoundWords = (find: string): string =>
  `No call of this wallet has this ${EXECUTION_ID.test(find.toLowerCase()) ? 'call ID or ' : ''}Idempotency-Key`;

export default function View() {
  const { wallet } = useSession();
  const search = route.useSearch();
  const [hasFilters, showFilters] = useState(Object.keys(search).length > 0);
  const { data } = useQuery({ ...executionsQuery(wallet, search), enabled: false });
  return (
    <>
      <PageHead
        title="Your calls"
        about="Every call that this wallet or its keys made, with its outcome. The CSV has one row for each call, the daily statement one for each day."
      >
        {wallet && (
          <>
            <Button className="md:hidden" aria-expanded={hasFilters} onClick={() => showFilters(!hasFilters)}>
              Filters
            </Button>
            <SaveButton
              disabled={!data?.total}
              work={async () => (await import('./executions/saveCsv.ts')).saveCsv(search)}
              failed="The file could not be made"
            >
              <span>
                <span className="max-md:hidden">These calls as </span>CSV
              </span>
            </SaveButton>
            <StatementButton as="caller" />
          </>
        )}
      </PageHead>
      <SignedIn why="Every call of your wallet and its keys is listed here, with its outcome, cost and receipt. Only your wallet can see them.">
        <Calls hasFilters={hasFilters} />
      </SignedIn>
    </>
  );
}

function Calls({ hasFilters }: { hasFilters: boolean }) {
  const { wallet } = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(executionsQuery(wallet, search));
  const { data } = query;
  const { page = 1, ...filters } = search;
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <SharedNote>
        These are the calls of all users of this shared test wallet. Any of them can delete what was sent and received.
      </SharedNote>
      <Filters
        search={search}
        found={data?.executions ?? []}
        isOpen={hasFilters}
        onChange={(next) => navigate({ search: next })}
      />
      {!data && <Unread query={query} what="The calls" className="h-96" />}
      {data?.executions.length === 0 &&
        (isFiltered || page > 1 ? (
          <Empty title={search.find === undefined ? 'No call fits these filters' : unfoundWords(search.find)}>
            {search.find !== undefined && (
              <p>So this wallet paid nothing with it. A call by x402 is found only by its call ID.</p>
            )}
            <Button className="mt-3" onClick={() => navigate({ search: {} })}>
              Show all calls
            </Button>
          </Empty>
        ) : (
          <Empty title="No calls yet">
            <p className="mb-5">
              Choose an agent and run it from this page, or call it with an API key. The price is held in escrow until
              the agent’s signed result arrives.
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

/** The start page: an introduction, and every agent that can be called. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useCallback, useDeferredValue } from 'react';
import type { AgentSummary } from '../../sdk/wire/wire.ts';
import { isForTests, TEST_TAG } from '../parts/badges.tsx';
import { TextLink } from '../parts/links.tsx';
import { Pages } from '../parts/pages.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { Button, buttonStyle, cx, Empty } from '../parts/ui.tsx';
import { formatCounted, shorten } from '../parts/values.tsx';
import { agentsQuery } from '../service.ts';
import { AgentCard, CardSkeleton } from './catalogue/card.tsx';
import { type Change, Filters } from './catalogue/filters.tsx';
import { Welcome } from './catalogue/welcome.tsx';
import { type CatalogueSearch, filtersOf, hidesTests, isFiltered, PAGE_SIZE } from './catalogueSearch.ts';

const route = getRouteApi('/');
const GRID = 'grid grid-cols-1 gap-4 sm:grid-cols-2 lg:grid-cols-3';

export default function Catalogue(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filters = filtersOf(search);
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...agentsQuery(filters),
    placeholderData: keepPreviousData,
  });
  const isHiding = hidesTests(search);
  const { data: readTests } = useQuery({
    ...agentsQuery({ ...filters, tags: TEST_TAG, offset: 0 }),
    placeholderData: keepPreviousData,
    enabled: isHiding,
  });
  // A list that is folded up: its many cards are drawn without one long task.
  const tests = useDeferredValue(readTests);
  const agents = data?.agents.filter((agent) => !isHiding || !isForTests(agent));
  const hidden = isHiding ? tests?.total : 0;
  const change = useCallback(
    (next: Change) =>
      void navigate({
        search: (before) => withoutUndefined({ ...before, page: undefined, ...next }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const clear = () => void navigate({ search: {}, replace: true });
  return (
    <>
      <a
        href="#agents"
        className="sr-only focus:not-sr-only focus:mb-3 focus:inline-block focus:text-accent focus:underline"
      >
        Skip to the agents
      </a>
      {!isFiltered(search) && <Welcome agents={agents} />}
      <Filters search={search} onChange={change} />
      <div className="my-2 flex flex-wrap items-center justify-between gap-3 sm:mt-8 sm:mb-4 sm:min-h-8">
        <p className={cx('text-sm text-faint', !isFiltered(search) && 'max-sm:sr-only')} role="status">
          {data && hidden !== undefined && counted(data.total - hidden, search)}
        </p>
        {isFiltered(search) && (
          <Button small kind="quiet" onClick={clear}>
            Clear filters
          </Button>
        )}
      </div>
      {error && !data && <Trouble error={error} what="The agents" onRetry={refetch} />}
      {!data && !error && (
        <div className={GRID} aria-busy="true">
          {Array.from({ length: 9 }, (_, index) => (
            <CardSkeleton key={index} />
          ))}
        </div>
      )}
      {agents && agents.length > 0 && (
        <Cards
          id="agents"
          agents={agents}
          className={cx('outline-none transition-opacity', isPlaceholderData && 'opacity-60')}
        />
      )}
      {data?.agents.length === 0 && <Nothing search={search} total={data.total} onClear={clear} />}
      {data && data.total > PAGE_SIZE && (
        <Pages
          page={search.page ?? 1}
          size={PAGE_SIZE}
          total={data.total}
          names={['Previous', 'Next']}
          onPage={(page) =>
            void navigate({ search: withoutUndefined({ ...search, page: page > 1 ? page : undefined }) })
          }
        />
      )}
      {isHiding && tests && tests.total > 0 && (
        <details className="mt-8 text-sm">
          <summary className="py-1">
            {formatCounted(tests.total, 'test agent')}: for developers, most fail on purpose
          </summary>
          <Cards agents={tests.agents} className="mt-4" />
          {tests.total > tests.agents.length && (
            <TextLink to="/" search={{ tags: TEST_TAG }} className="mt-4 inline-block">
              All of them
            </TextLink>
          )}
        </details>
      )}
    </>
  );
}

function Cards({ agents, id, className }: { agents: AgentSummary[]; id?: string; className?: string }) {
  return (
    <ul id={id} tabIndex={id ? -1 : undefined} className={cx(GRID, className)}>
      {agents.map((agent) => (
        <li key={agent.agent_id}>
          <AgentCard agent={agent} />
        </li>
      ))}
    </ul>
  );
}

function counted(total: number, { creator }: CatalogueSearch): string {
  const agents = formatCounted(total, 'agent');
  return creator ? `${agents} of the creator ${shorten(creator)}` : agents;
}

function Nothing({ search, total, onClear }: { search: CatalogueSearch; total: number; onClear(): void }) {
  if (total > 0) {
    return (
      <Empty title="This page does not exist">
        <Link to="/" search={{ ...search, page: undefined } as CatalogueSearch} className={buttonStyle()}>
          To the first page
        </Link>
      </Empty>
    );
  }
  if (isFiltered(search)) {
    return (
      <Empty title="No agent matches these filters">
        <p className="mb-5">Use fewer tags or other words, or show all agents.</p>
        <Button onClick={onClear}>Clear filters</Button>
      </Empty>
    );
  }
  return (
    <Empty title="No agent is listed yet">
      <p className="mb-5">Yours could be the first: it runs on your own server and is paid for each result.</p>
      <Link to="/creator/new" className={buttonStyle('primary')}>
        List an agent
      </Link>
    </Empty>
  );
}

function withoutUndefined(search: Change): CatalogueSearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as CatalogueSearch;
}

/** The log of the admin: transactions, then sign-ins and reads through this service. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import type { AdminAction, AdminActionName, AdminEvent } from '../../../sdk/wire/operationProcedures.ts';
import { PagedTable } from '../../parts/pagedTable.tsx';
import { pageOf } from '../../parts/pages.tsx';
import { Badge, cx, Empty, Select } from '../../parts/ui.tsx';
import { Id, Time } from '../../parts/values.tsx';
import { call, configQuery } from '../../service.ts';
import { By, DisputeLink, eventWords, SignedBy } from './events.tsx';
import { PAGE_SIZE, parseAdminSearch } from './search.ts';

const REFRESH_MS = 15_000;

const ACTION_WORDS: Record<AdminActionName, string> = {
  'auth.signIn': 'Signed in on the page',
  'auth.verify': 'Signed in by a command or program',
  'disputes.queue': 'Read the list of disputes',
  'disputes.case': 'Read a dispute',
  'disputes.evidence': 'Read evidence',
  'disputes.putReason': 'Saved the reason for a decision',
};

export function LogTab() {
  return (
    <div className="grid gap-8">
      <Events />
      <Actions />
    </div>
  );
}

interface SectionProps extends Omit<ComponentProps<typeof PagedTable>, 'label' | 'empty' | 'size'> {
  title: string;
  about: string;
  empty: string;
  /** A choice of rows, beside the title. */
  which?: ReactNode;
}

/** Both tables have the same columns, but while details are open they need the width. */
const COLUMNS =
  'lg:not-has-[[open]]:[&_th:nth-child(1)]:w-[25%] lg:not-has-[[open]]:[&_th:nth-child(2)]:w-[31%] lg:not-has-[[open]]:[&_th:nth-child(3)]:w-[17%]';

function Section({ title, about, empty, which, ...table }: SectionProps) {
  return (
    <section className={cx('grid gap-3', COLUMNS)}>
      <div className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
        <div className="max-w-3xl">
          <h2 className="text-lg font-semibold">{title}</h2>
          <p className="mt-1 text-sm text-faint">{about}</p>
        </div>
        {which}
      </div>
      <PagedTable
        {...table}
        label={title}
        hasCards
        isDense
        className="h-48"
        empty={<Empty title={empty} />}
        size={PAGE_SIZE}
      />
    </section>
  );
}

function Actions() {
  const { reads, page = 1 } = useSearch({ from: '/admin' });
  const navigate = useNavigate({ from: '/admin' });
  const query = useQuery({
    queryKey: ['operation.actions', reads, page],
    queryFn: () => call('operation.actions', { reads, ...pageOf(page, PAGE_SIZE) }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Section
      title="Sign-ins, reads and saved reasons"
      about="What the admin did through this service, with every read of private data. The same read, repeated within ten minutes of the first, shares its row, at the time of the last."
      which={
        <Select
          label="Show"
          value={String(reads ?? 'all')}
          onChange={({ target }) =>
            void navigate({
              search: ({ events }) =>
                parseAdminSearch({
                  tab: 'log',
                  events,
                  ...(target.value !== 'all' && { reads: target.value === 'true' }),
                }),
              resetScroll: false,
            })
          }
        >
          <option value="all">All</option>
          <option value="false">Sign-ins and saved reasons</option>
          <option value="true">Reads</option>
        </Select>
      }
      what="The log"
      empty="Nothing is logged yet"
      head={['When', 'What', 'By', 'About']}
      query={query}
      page={page}
      onPage={(next) => void navigate({ search: (before) => ({ ...before, page: next }) })}
    >
      {query.data?.actions.map((action) => (
        <ActionRow key={action.action_id} action={action} />
      ))}
    </Section>
  );
}

/** On a phone four lines: when, what was done, by whom, and about what. */
const ROW =
  'max-sm:gap-y-1! max-sm:[&>td:nth-child(1)]:text-xs max-sm:[&>td:nth-child(1)]:text-faint max-sm:[&>td:nth-child(2)]:font-medium max-sm:[&>td:nth-child(3)]:text-faint';

function ActionRow({ action }: { action: AdminAction }) {
  const { outcome, begun_at, ended_at } = action;
  const { data: config } = useQuery(configQuery);
  return (
    <tr className={ROW}>
      <td>
        <Time at={ended_at ?? begun_at} hasSeconds />
      </td>
      <td>
        {ACTION_WORDS[action.action]}
        {outcome !== 'done' && (
          <Badge tone={outcome === null ? 'warn' : 'bad'} className="ml-2 whitespace-nowrap">
            {outcome === null ? 'Outcome not known' : `Failed: ${outcome.replaceAll('_', ' ')}`}
          </Badge>
        )}
      </td>
      <td className="sm:whitespace-nowrap">
        <By who={action.wallet === config?.admin ? 'Admin' : undefined} wallet={action.wallet} />
      </td>
      <td>{aboutWords(action)}</td>
    </tr>
  );
}

function aboutWords({ action, subject }: AdminAction): ReactNode {
  if (action.startsWith('auth.')) return `IP address ${subject}`;
  if (action === 'disputes.queue') return `${subject === 'lapsed' ? 'undecided' : subject} disputes`;
  return <DisputeLink executionId={subject} />;
}

function Events() {
  const { events: page = 1 } = useSearch({ from: '/admin' });
  const navigate = useNavigate({ from: '/admin' });
  const query = useQuery({
    queryKey: ['operation.events', page],
    queryFn: () => call('operation.events', pageOf(page, PAGE_SIZE)),
    placeholderData: keepPreviousData,
  });
  return (
    <Section
      title="Decisions and changes"
      about="Transactions of the admin and the guardian on the chain, no matter which page or tool sent them."
      what="The transactions"
      empty="The index has no transactions yet"
      head={['When', 'What', 'By', 'Details']}
      query={query}
      page={page}
      onPage={(next) => void navigate({ search: (before) => ({ ...before, events: next }) })}
    >
      {query.data?.events.map((event, index, events) => (
        <EventRow
          key={`${event.signature} ${event.event_index}`}
          event={event}
          what={eventWords(event, events.slice(index + 1))}
        />
      ))}
    </Section>
  );
}

function EventRow({ event, what }: { event: AdminEvent; what: ReactNode }) {
  return (
    <tr className={ROW}>
      <td className="sm:whitespace-nowrap">{event.at ? <Time at={event.at} hasSeconds /> : `slot ${event.slot}`}</td>
      <td>{what}</td>
      <td className="sm:whitespace-nowrap">
        <SignedBy event={event} />
      </td>
      <td className="max-w-96">
        <details className="min-w-0">
          <summary className="whitespace-nowrap">Transaction and details</summary>
          <Id value={event.signature} kind="tx" />
          <pre className="mt-2 overflow-x-auto text-xs break-all whitespace-pre-wrap">
            {JSON.stringify(event.data, null, 2)}
          </pre>
        </details>
      </td>
    </tr>
  );
}

/** The log of the admin: transactions, then sign-ins and reads through this service. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AdminAction, AdminActionName, AdminEvent } from '../../../sdk/wire/operationProcedures.ts';
import { Pages } from '../../parts/pages.tsx';
import { Cell, Table } from '../../parts/table.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Badge, Empty, Skeleton } from '../../parts/ui.tsx';
import { Id, Time } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { DisputeLink, eventWords } from './events.tsx';
import { PAGE_SIZE } from './search.ts';
import { SignedBy } from './signedBy.tsx';

const REFRESH_MS = 15_000;

const ACTION_WORDS: Record<AdminActionName, string> = {
  'auth.signIn': 'Signed in on the page',
  'auth.verify': 'Signed in with a token',
  'disputes.queue': 'Read the list of disputes',
  'disputes.case': 'Read a dispute',
  'disputes.evidence': 'Read evidence',
  'disputes.putReason': 'Saved the reason for a decision',
};

const pageOf = (page: number) => ({ limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE });

export function LogTab() {
  return (
    <div className="grid gap-8">
      <Events />
      <Actions />
    </div>
  );
}

interface SectionProps {
  title: string;
  about: string;
  /** Name of the list, for the error message if it cannot be read. */
  what: string;
  empty: string;
  head: string[];
  query: { data: { total: number } | undefined; error: Error | null; refetch(): unknown };
  page: number;
  onPage(page: number): void;
  /** The rows of the table. */
  children: ReactNode;
}

function Section({ title, about, what, empty, head, query, page, onPage, children }: SectionProps) {
  const { data, error, refetch } = query;
  return (
    <section className="grid gap-3">
      <div>
        <h2 className="font-semibold">{title}</h2>
        <p className="mt-1 text-sm text-faint">{about}</p>
      </div>
      {error && <Trouble error={error} what={what} onRetry={refetch} />}
      {!data && !error && <Skeleton className="h-48" />}
      {data?.total === 0 && <Empty title={empty} />}
      {data && data.total > 0 && (
        <>
          <Table label={title} head={head} hasCards>
            {children}
          </Table>
          <Pages page={page} size={PAGE_SIZE} total={data.total} onPage={onPage} />
        </>
      )}
    </section>
  );
}

function Actions() {
  const { page = 1 } = useSearch({ from: '/admin' });
  const navigate = useNavigate({ from: '/admin' });
  const query = useQuery({
    queryKey: ['operation.actions', page],
    queryFn: () => call('operation.actions', pageOf(page)),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Section
      title="Sign-ins, reads and saved reasons"
      about="What the admin did through this service, with every read of private data. Repeated reads within ten minutes share one row."
      what="The log"
      empty="Nothing is logged yet"
      head={['When', 'What', 'About', 'Admin']}
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

function ActionRow({ action }: { action: AdminAction }) {
  const { outcome } = action;
  return (
    <tr>
      <Cell of="When" className="whitespace-nowrap">
        <Time at={action.begun_at} hasSeconds />
      </Cell>
      <Cell of="What">
        <span className="flex flex-wrap gap-x-2 gap-y-1">
          {ACTION_WORDS[action.action]}
          {outcome !== 'done' && (
            <Badge tone={outcome === null ? 'warn' : 'bad'} className="whitespace-nowrap">
              {outcome === null ? 'Outcome not known' : `Failed: ${outcome.replaceAll('_', ' ')}`}
            </Badge>
          )}
        </span>
      </Cell>
      <Cell of="About">{aboutWords(action)}</Cell>
      <Cell of="Admin">
        <Id value={action.wallet} kind="address" />
      </Cell>
    </tr>
  );
}

function aboutWords({ action, subject }: AdminAction): ReactNode {
  if (action.startsWith('auth.')) return `from ${subject}`;
  if (action === 'disputes.queue') return `${subject === 'lapsed' ? 'undecided' : subject} disputes`;
  return <DisputeLink executionId={subject} />;
}

function Events() {
  const { events: page = 1 } = useSearch({ from: '/admin' });
  const navigate = useNavigate({ from: '/admin' });
  const query = useQuery({
    queryKey: ['operation.events', page],
    queryFn: () => call('operation.events', pageOf(page)),
    placeholderData: keepPreviousData,
  });
  return (
    <Section
      title="Decisions and changes"
      about="Transactions of the admin and the guardian on the chain, no matter which program sent them."
      what="The transactions"
      empty="The index has no transactions yet"
      head={['When', 'What', 'By', 'Fields', 'Transaction']}
      query={query}
      page={page}
      onPage={(next) => void navigate({ search: (before) => ({ ...before, events: next }) })}
    >
      {query.data?.events.map((event) => (
        <EventRow key={`${event.signature} ${event.event_index}`} event={event} />
      ))}
    </Section>
  );
}

function EventRow({ event }: { event: AdminEvent }) {
  return (
    <tr>
      <Cell of="When" className="whitespace-nowrap">
        {event.at ? <Time at={event.at} hasSeconds /> : `slot ${event.slot}`}
      </Cell>
      <Cell of="What">
        <span>{eventWords(event)}</span>
      </Cell>
      <Cell of="By" className="whitespace-nowrap">
        <span>
          <SignedBy event={event} />
        </span>
      </Cell>
      <Cell of="Fields" className="max-w-96">
        <details className="min-w-0">
          <summary className="cursor-pointer text-faint">Show</summary>
          <pre className="mt-2 overflow-x-auto text-xs break-all whitespace-pre-wrap">
            {JSON.stringify(event.data, null, 2)}
          </pre>
        </details>
      </Cell>
      <Cell of="Transaction">
        <Id value={event.signature} kind="tx" />
      </Cell>
    </tr>
  );
}

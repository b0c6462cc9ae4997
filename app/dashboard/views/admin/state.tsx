/** The state of the deployment: problems, how long the gas lasts, and where the lamports are. */

import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ANSWER_SECONDS } from '../../../sdk/wire/choices.ts';
import type { ProcedureOutput } from '../../../sdk/wire/procedures.ts';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { formatShortSol } from '../../parts/amount.ts';
import { Cell, Table } from '../../parts/table.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Badge, Card, Facts, Figure, Note, Skeleton } from '../../parts/ui.tsx';
import { formatCount, formatDuration, formatSpan, Id } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { NeedsYou } from './needsYou.tsx';
import { ARCHIVE_LATE, PROBLEM_WORDS } from './problems.ts';

type State = ProcedureOutput<'operation.state'>;

/** Poll interval, ms: short, because an old state is of little use. */
const REFRESH_MS = 5_000;

export const stateQuery = queryOptions({
  queryKey: ['operation.state'],
  queryFn: () => call('operation.state'),
  refetchInterval: REFRESH_MS,
});

const UNKNOWN = 'not known yet';
const HOUR_SECONDS = 3_600;
/** Above this, only "over a year" is shown. */
const LONG_HOURS = 24 * 365;

export const sol = (lamports: number): string => `${formatSol(BigInt(lamports))} SOL`;

/** Four decimals; the exact amount on hover. `of`: a limit of the amount. */
function Sol({ lamports, of: limit }: { lamports: number | null; of?: number }) {
  if (lamports === null) return UNKNOWN;
  const show = (format: (lamports: number) => string) =>
    limit === undefined ? format(lamports) : `${format(lamports).replace(' SOL', '')} of ${format(limit)}`;
  return (
    <span className="tabular-nums" title={show(sol)}>
      {show(formatShortSol)}
    </span>
  );
}

function runwayOf({ runway_hours }: State): string {
  if (runway_hours === null) return '–';
  return runway_hours > LONG_HOURS ? 'Over a year' : formatSpan(runway_hours * HOUR_SECONDS);
}

export function StateTab() {
  const { data: state, error, refetch } = useQuery(stateQuery);
  if (!state) return error ? <Trouble error={error} what="The state" onRetry={refetch} /> : <Loading />;
  return (
    <div className="grid gap-8">
      {error && <Trouble error={error} what="The state" onRetry={refetch} />}
      {state.open_disputes > 0 && <NeedsYou count={state.open_disputes} />}
      <Problems problems={state.problems} isArchiveLate={state.archive_waiting?.is_late ?? false} />
      <Figures state={state} />
      <div className="grid gap-6 lg:grid-cols-2">
        <Card className="grid content-start gap-4">
          <h2 className="font-semibold">SOL</h2>
          <Facts rows={lamportRows(state)} />
        </Card>
        <Card className="grid content-start gap-4">
          <h2 className="font-semibold">Service</h2>
          <Facts rows={workRows(state)} />
        </Card>
      </div>
      <Authorities state={state} />
      {state.x402 && (
        <Card className="grid content-start gap-4">
          <h2 className="font-semibold">Payments by x402</h2>
          <Facts
            rows={[
              ['Fee payer', <Id key="payer" value={state.x402.fee_payer} kind="address" />],
              ['Its balance', <Sol key="balance" lamports={state.x402.lamports} />],
              ['Minimum balance for quotes', <Sol key="least" lamports={state.x402.min_lamports} />],
              ['Open deposits', formatCount(state.x402.open_deposits)],
            ]}
          />
        </Card>
      )}
    </div>
  );
}

function Problems({ problems, isArchiveLate }: Pick<State, 'problems'> & { isArchiveLate: boolean }) {
  if (problems.length === 0 && !isArchiveLate)
    return (
      <Note tone="good" title="The service works">
        It accepts, shows and settles calls.
      </Note>
    );
  return (
    <ul className="grid gap-3">
      {problems.map((problem) => (
        <li key={problem}>
          <Note tone={problem === 'opens_paused' ? 'warn' : 'bad'} title={PROBLEM_WORDS[problem].title}>
            {PROBLEM_WORDS[problem].todo}
          </Note>
        </li>
      ))}
      {isArchiveLate && (
        <li>
          <Note tone="warn" title={ARCHIVE_LATE.title}>
            {ARCHIVE_LATE.todo}
          </Note>
        </li>
      )}
    </ul>
  );
}

function Figures({ state }: { state: State }) {
  const { oldest_unsettled: oldest, indexer } = state;
  return (
    <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
      <Figure
        label="SOL for fees lasts"
        value={runwayOf(state)}
        about={state.runway_hours === null ? 'Nothing is being spent' : 'At the present rate'}
      />
      <Figure
        label="Calls in progress"
        value={formatCount(state.executions_in_flight)}
        about={oldest ? `The oldest for ${formatSpan(oldest.age_seconds)}` : 'No unsettled calls'}
      />
      <Figure
        label="Index lag"
        value={indexer.lag_ms === null ? '–' : formatDuration(indexer.lag_ms)}
        about={indexer.slot === null ? 'The chain has not been read yet' : `At slot ${formatCount(indexer.slot)}`}
      />
      <Figure
        label="Open disputes"
        value={formatCount(state.open_disputes)}
        about={
          state.open_disputes === 0
            ? 'None waits for a decision'
            : `Each to be decided within ${ANSWER_SECONDS / 3_600} hours`
        }
      />
    </div>
  );
}

type Row = readonly [string, ReactNode] | false;

/** Each amount once: what equals another one under another name is left out. */
function lamportRows({ lamports, lamports_per_call, authorities }: State): Row[] {
  const { lent, lent_limit, free, due, due_seconds, locked } = lamports;
  const own = authorities.find(({ is_ours }) => is_ours)?.lamports;
  return [
    ['Deposits lent', <Sol key="lent" lamports={lent} of={lent_limit} />],
    free !== own && ['Free to lend', <Sol key="free" lamports={free} />],
    [
      'Coming back from ended calls',
      <span key="due">
        {due > 0 && due === lent ? 'all that is lent' : <Sol lamports={due} />}
        {due_seconds !== null && `, the first in ${formatSpan(due_seconds)}`}
      </span>,
    ],
    ['Held until callers can receive refunds', <Sol key="unclaimed" lamports={lamports.unclaimed} />],
    locked !== due && ['Locked in ended records', <Sol key="locked" lamports={locked} />],
    ['Archivable now', <Sol key="archivable" lamports={lamports.archivable} />],
    ['Returned by archiving', <Sol key="archived" lamports={lamports.archived} />],
    ['Unpaid fees, 24 hours', <Sol key="unpaid" lamports={lamports.burnt_today} />],
    [
      'Fees of one call',
      lamports_per_call === null ? 'none settled yet' : <Sol key="fees" lamports={lamports_per_call} />,
    ],
  ];
}

function workRows({ oldest_unsettled: oldest, archive_waiting: archive, webhooks_waiting: webhooks, ...state }: State) {
  return [
    [
      'Oldest unsettled',
      oldest ? (
        <span className="flex flex-wrap items-center gap-x-2">
          <Id value={oldest.execution_id} />
          <span>
            {oldest.state.replaceAll('_', ' ')}, for {formatSpan(oldest.age_seconds)}
          </span>
        </span>
      ) : (
        'none'
      ),
    ],
    ['Records to archive', archive ? waitingText(archive) : UNKNOWN],
    ['Webhooks waiting', waitingText(webhooks)],
    ['Records checked against the chain', state.reconciled ? 'yes, at the start' : 'in progress'],
    ['New calls', state.opens_paused ? <Badge tone="warn">paused</Badge> : <Badge tone="good">accepted</Badge>],
    ['Uptime', formatSpan(state.uptime_seconds)],
  ] as const;
}

function waitingText({ count, oldest_seconds: seconds }: { count: number; oldest_seconds: number }): string {
  return count === 0 ? 'none' : `${formatCount(count)}, the oldest for ${formatSpan(seconds)}`;
}

function Authorities({ state: { authorities } }: { state: State }) {
  return (
    <section className="grid gap-3">
      <h2 className="font-semibold">Relay authorities</h2>
      <Table label="Relay authorities" hasCards head={['Key', 'Balance', '']}>
        {authorities.map(({ address, lamports, is_ours }) => (
          <tr key={address}>
            <Cell of="Key">
              <Id value={address} kind="address" />
            </Cell>
            <Cell of="Balance" className="whitespace-nowrap tabular-nums">
              <Sol lamports={lamports} />
            </Cell>
            <td>
              {is_ours && (
                <Badge tone="accent" className="whitespace-nowrap">
                  this relay
                </Badge>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Loading() {
  return (
    <div className="grid gap-8">
      <Skeleton className="h-17" />
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        {[1, 2, 3, 4].map((key) => (
          <Skeleton key={key} className="h-29" />
        ))}
      </div>
      <div className="grid gap-6 lg:grid-cols-2">
        <Skeleton className="h-72" />
        <Skeleton className="h-72" />
      </div>
    </div>
  );
}

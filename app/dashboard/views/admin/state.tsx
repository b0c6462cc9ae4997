/** The state of the deployment: problems, how long the gas lasts, and where the lamports are. */

import { queryOptions, useQuery } from '@tanstack/react-query';
import { ANSWER_SECONDS } from '../../../sdk/wire/choices.ts';
import type { ProcedureOutput } from '../../../sdk/wire/procedures.ts';
import { formatSol } from '../../../sdk/wire/sol.ts';
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
const solOrUnknown = (lamports: number | null): string => (lamports === null ? UNKNOWN : sol(lamports));

function runwayOf({ runway_hours }: State): string {
  if (runway_hours === null) return 'Nothing is being spent';
  if (runway_hours > LONG_HOURS) return 'Lasts for more than a year at this rate';
  return `Lasts for ${formatSpan(runway_hours * HOUR_SECONDS)} at this rate`;
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
              ['Its balance', amount(solOrUnknown(state.x402.lamports))],
              ['Minimum balance for quotes', amount(sol(state.x402.min_lamports))],
              ['Open deposits', amount(formatCount(state.x402.open_deposits))],
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
      <Note tone="good" title="Everything works">
        The service accepts, shows and settles calls.
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
  const { authorities, oldest_unsettled: oldest, indexer } = state;
  const own = authorities.find(({ is_ours }) => is_ours)?.lamports ?? null;
  return (
    <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
      <Figure
        label="SOL left for fees"
        value={own === null ? '–' : sol(Math.floor(own / 1e6) * 1e6)}
        about={runwayOf(state)}
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

const amount = (text: string) => <span className="tabular-nums">{text}</span>;
const dueText = ({ due, due_seconds }: State['lamports']) =>
  due_seconds === null ? sol(due) : `${sol(due)}, the first in ${formatSpan(due_seconds)}`;

function lamportRows({ lamports, lamports_per_call }: State) {
  return [
    ['Deposits lent', amount(`${formatSol(BigInt(lamports.lent))} of ${sol(lamports.lent_limit)}`)],
    ['Free to lend', amount(sol(lamports.free))],
    ['Coming back from ended calls', amount(dueText(lamports))],
    ['Held until callers can receive refunds', amount(sol(lamports.unclaimed))],
    ['Locked in ended records', amount(solOrUnknown(lamports.locked))],
    ['Archivable now', amount(solOrUnknown(lamports.archivable))],
    ['Returned by archiving', amount(solOrUnknown(lamports.archived))],
    ['Unpaid fees, 24 hours', amount(sol(lamports.burnt_today))],
    ['Fees of one call', amount(lamports_per_call === null ? 'none settled yet' : sol(lamports_per_call))],
  ] as const;
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
              {solOrUnknown(lamports)}
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

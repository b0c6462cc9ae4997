/** Calls of a wallet: a table if there is space, else cards. A row or a card is a link to its call. */
import { Link } from '@tanstack/react-router';
import type { ExecutionSummary } from '../../../sdk/wire/wire.ts';
import { Avatar } from '../../parts/avatar.tsx';
import { Chevron } from '../../parts/icons.tsx';
import { AtRight, Table } from '../../parts/table.tsx';
import { Badge, cx } from '../../parts/ui.tsx';
import { formatAmount, formatDuration, Id, shorten, zoneAt } from '../../parts/values.tsx';
import { inPrint } from '../../service.ts';
import { lessUsdc } from '../listing/own.ts';
import { type Outcome, outcomeOf, payerOf } from './outcome.ts';

const headOf = () => [
  'Call',
  'Outcome',
  <AtRight key="cost">Cost</AtRight>,
  <AtRight key="duration">Answered in</AtRight>,
  'Called with',
  `When (${zoneAt(Date.now())})`,
  'ID',
];

/** What the call cost in the end, after a refund or an award. Before the escrow is open, the price is unknown. */
function costOf({ status, cost_usdc, returned_usdc }: ExecutionSummary): string {
  if (cost_usdc === 0 && (status === 'pending' || status === 'running')) return '–';
  return formatAmount(lessUsdc(cost_usdc, returned_usdc ?? 0));
}

const durationOf = ({ execution_time_ms: ms }: ExecutionSummary): string | null =>
  ms === null ? null : formatDuration(ms);

export function Rows({ executions }: { executions: ExecutionSummary[] }) {
  return (
    <>
      <div className="hidden lg:block">
        <Table label="Calls" head={headOf()}>
          {executions.map((call) => (
            <tr key={call.execution_id} title={call.execution_id} className="relative hover:bg-sunken">
              <td className="w-full max-w-0">
                <CallLink call={call} lines="line-clamp-1" />
              </td>
              <td>
                <OutcomeBadge call={call} outcome={outcomeOf(call)} />
                <RefundReason call={call} />
              </td>
              <td className="text-right whitespace-nowrap tabular-nums">{costOf(call)}</td>
              <td className="text-right whitespace-nowrap text-faint tabular-nums">{durationOf(call) ?? '–'}</td>
              <td className="max-w-40 truncate text-faint">{payerOf(call)}</td>
              <td className="text-faint">
                <Exact at={call.initiated_at} />
              </td>
              <td className="whitespace-nowrap text-faint">
                <span className="flex items-center justify-between gap-2">
                  <span className="relative z-1">
                    <Id value={call.execution_id} />
                  </span>
                  <Chevron className="-rotate-90" />
                </span>
              </td>
            </tr>
          ))}
        </Table>
      </div>
      <ul className="divide-y divide-line rounded-xl border border-line bg-raised lg:hidden">
        {executions.map((call) => (
          <li key={call.execution_id} className="relative grid gap-3 p-4 text-sm">
            <CallLink call={call} lines="line-clamp-2" />
            <div>
              <p className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
                <OutcomeBadge call={call} outcome={outcomeOf(call)} />
                <span className="font-medium tabular-nums">{costOf(call)}</span>
              </p>
              <RefundReason call={call} />
            </div>
            <p className="truncate text-faint">{[payerOf(call), durationOf(call)].filter(Boolean).join(' · ')}</p>
            <p className="-mt-2 flex flex-wrap items-center justify-between gap-x-3 text-faint">
              <Exact at={call.initiated_at} hasZone />
              <span className="relative z-1">
                <Id value={call.execution_id} />
              </span>
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}

/** In one line, to the second, because a program may make many alike calls in a minute; the exact time on hover. */
export function Exact({ at, hasZone = false }: { at: string; hasZone?: boolean }) {
  const time = new Date(at);
  const isThisYear = time.getFullYear() === new Date().getFullYear();
  const day = time.toLocaleDateString(
    undefined,
    isThisYear ? { day: 'numeric', month: 'short' } : { dateStyle: 'medium' },
  );
  return (
    <time dateTime={at} title={at} className="whitespace-nowrap tabular-nums">
      {day}, {time.toLocaleTimeString(undefined, { timeStyle: 'medium' })} {hasZone && zoneAt(time)}
    </time>
  );
}

interface OutcomeBadgeProps {
  call: Pick<ExecutionSummary, 'execution_id' | 'dispute'>;
  outcome: Outcome;
}

/** With a link to the dispute, if there is one, above the link that covers the row. */
export function OutcomeBadge({ call: { execution_id: executionId, dispute }, outcome }: OutcomeBadgeProps) {
  const { words, tone } = outcome;
  return (
    <Badge tone={tone} className="justify-self-start whitespace-nowrap">
      {dispute ? (
        <Link
          to="/disputes/$executionId"
          params={{ executionId }}
          aria-label={`${words}: read the dispute`}
          className="relative z-1 -my-1 py-1 underline-offset-2 hover:underline"
        >
          {words}
        </Link>
      ) : (
        words
      )}
    </Badge>
  );
}

function RefundReason({ call }: { call: ExecutionSummary }) {
  const reason = call.refund !== null && call.error !== null && inPrint(call.error.message);
  return (
    reason && (
      <span className="mt-1 line-clamp-2 text-sm text-faint lg:w-44" title={reason}>
        {reason}
      </span>
    )
  );
}

/** Task and agent, as a link that covers the whole row or card, which must be `relative`. */
function CallLink({ call, lines }: { call: ExecutionSummary; lines: string }) {
  return (
    <Link
      to="/executions/$executionId"
      params={{ executionId: call.execution_id }}
      className="group/call flex items-center gap-3 after:absolute after:inset-0 after:rounded-xl"
    >
      <Avatar address={call.agent_id} className="size-8" />
      <span className="grid min-w-0 gap-0.5">
        <TaskLine task={call.task} lines={lines} />{' '}
        <span className="truncate text-faint">{call.agent_name ?? shorten(call.agent_id)}</span>
      </span>
      <Chevron className="ml-auto -rotate-90 lg:hidden" />
    </Link>
  );
}

/** Characters of a task in a title, at most two lines. */
const TITLE_CHARACTERS = 80;

export const shortTask = (task: string): string =>
  task.length > TITLE_CHARACTERS ? `${task.slice(0, TITLE_CHARACTERS)}…` : task;

/** The first lines of a task. On hover, all of it that the service sent. */
export function TaskLine({ task, lines = 'line-clamp-1' }: { task: string | null; lines?: string }) {
  if (task === null) return <span className="text-faint italic">Task no longer kept</span>;
  return (
    <span className={cx('font-medium break-words underline-offset-4 group-hover/call:underline', lines)} title={task}>
      {task}
    </span>
  );
}

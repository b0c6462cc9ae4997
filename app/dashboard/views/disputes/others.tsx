/** The other disputes of this caller and this agent, which help the admin to decide. */
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import type { DisputeSummary, OtherDisputes } from '../../../sdk/wire/disputeProcedures.ts';
import { Card, Facts } from '../../parts/ui.tsx';
import { Day, formatAmount, formatCount, Status, shorten } from '../../parts/values.tsx';
import { isUninformed } from './ended.tsx';

interface OthersProps {
  others: OtherDisputes;
}

export function Others({ others }: OthersProps) {
  const { of_caller, of_agent, first_of_caller: first } = others;
  const total = totalOf(of_caller);
  const list = useId();
  return (
    <Card className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <h2 className="font-semibold">Other disputes</h2>
      <Facts
        rows={[
          ['This caller', `${callWords(others.caller_executions)}, ${otherWords(of_caller)}`],
          ['This agent', `${callWords(others.agent_executions)}, ${otherWords(of_agent)}`],
        ]}
      />
      {first.length > 0 && (
        <div className="border-t border-line pt-4">
          <h3 id={list} className="text-sm font-medium">
            Other disputes of this caller
          </h3>
          <ul aria-labelledby={list} className="divide-y divide-line text-sm">
            {first.map((other) => (
              <Other key={other.execution_id} dispute={other} />
            ))}
          </ul>
        </div>
      )}
      {total > first.length && (
        <p className="text-sm text-faint">And {formatCount(total - first.length)} older ones of this caller.</p>
      )}
    </Card>
  );
}

/** Without its task, because each task that the admin reads is logged. */
function Other({ dispute }: { dispute: DisputeSummary }) {
  const { execution_id, agent_name, agent_id, price_usdc, outcome, opened_at, reason } = dispute;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2.5 last:pb-0">
      <Link to="/admin/disputes/$executionId" params={{ executionId: execution_id }} className="text-accent underline">
        {agent_name ?? shorten(agent_id)}, call {shorten(execution_id)}
      </Link>
      <span>{formatAmount(price_usdc)}</span>
      <span>
        <Status value={outcome}>{outcome === 'lapsed' && 'Ended undecided'}</Status>
        {isUninformed(dispute) && <span className="text-faint"> · the caller uploaded no evidence</span>}
      </span>
      <span className="ml-auto text-faint">
        <Day at={opened_at} />
      </span>
      <span className="w-full text-faint">{reason ?? (outcome === 'open' ? 'not decided yet' : 'no reason kept')}</span>
    </li>
  );
}

const totalOf = (counts: OtherDisputes['of_caller']): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Such as `1 other dispute (rejected)`, `3 other disputes (1 open, 2 rejected)`. */
function otherWords(counts: OtherDisputes['of_caller']): string {
  const total = totalOf(counts);
  if (total === 0) return 'no other disputes';
  return total === 1
    ? `1 other dispute (${countWords(counts).slice('1 '.length)})`
    : `${formatCount(total)} other disputes (${countWords(counts)})`;
}

const callWords = (count: number): string => `${formatCount(count)} finished ${count === 1 ? 'call' : 'calls'}`;

/** Such as `1 open, 2 rejected`. */
export function countWords({ open, rejected, upheld, lapsed }: OtherDisputes['of_caller']): string {
  const parts = [
    [open, 'open'],
    [rejected, 'rejected'],
    [upheld, 'upheld'],
    [lapsed, 'ended undecided'],
  ] as const;
  const words = parts.filter(([count]) => count > 0).map(([count, word]) => `${formatCount(count)} ${word}`);
  return words.length === 0 ? 'None' : words.join(', ');
}

/** The other disputes of this caller and this agent, which help the admin to decide. */
import { Link } from '@tanstack/react-router';
import type { ProcedureOutput } from '../../../sdk/wire/procedures.ts';
import { Card, Facts } from '../../parts/ui.tsx';
import { formatCount, Id, shorten } from '../../parts/values.tsx';

type Counts = ProcedureOutput<'disputes.case'>['others']['of_caller'];

export function Others({ found: { dispute, others } }: { found: ProcedureOutput<'disputes.case'> }) {
  const { of_caller, of_agent, agent_executions: calls } = others;
  return (
    <Card className="grid gap-4">
      <h2 className="font-semibold">Other disputes</h2>
      <Facts
        rows={[
          [
            'Of this caller',
            <span key="caller" className="flex flex-wrap items-baseline gap-x-2">
              {countWords(of_caller)} <Id value={dispute.caller} kind="address" />
            </span>,
          ],
          [
            'Of this agent',
            <span key="agent">
              {countWords(of_agent)}; {formatCount(calls)} finished {calls === 1 ? 'call' : 'calls'} of{' '}
              <Link to="/agents/$agentId" params={{ agentId: dispute.agent_id }} className="text-accent underline">
                {dispute.agent_name ?? shorten(dispute.agent_id)}
              </Link>
            </span>,
          ],
        ]}
      />
    </Card>
  );
}

/** Such as `1 open, 2 rejected`. */
function countWords({ open, rejected, upheld, lapsed }: Counts): string {
  const parts = [
    [open, 'open'],
    [rejected, 'rejected'],
    [upheld, 'upheld'],
    [lapsed, 'ended undecided'],
  ] as const;
  const words = parts.filter(([count]) => count > 0).map(([count, word]) => `${formatCount(count)} ${word}`);
  return words.length === 0 ? 'None' : words.join(', ');
}

/** The other disputes of this caller, this agent and this creator, which help the admin to decide. */
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { DISPUTE_OUTCOMES } from '../../../sdk/wire/choices.ts';
import type { DisputeSummary, OtherDisputes } from '../../../sdk/wire/disputeProcedures.ts';
import { TextLink } from '../../parts/links.tsx';
import { Card, Facts } from '../../parts/ui.tsx';
import { asSentence, Day, formatAmount, formatCount, formatCounted, Status, shorten } from '../../parts/values.tsx';
import { creatorQuery } from '../admin/parties.tsx';
import { isUninformed } from './ended.tsx';
import { OUTCOME_WORDS } from './outcomes.tsx';

interface OthersProps {
  others: OtherDisputes;
  /** The dispute that is read. */
  dispute: DisputeSummary;
}

export function Others({ others, dispute: { caller, creator, outcome } }: OthersProps) {
  const { data } = useQuery(creatorQuery(creator));
  const known = data?.creators[0];
  const { of_caller, of_agent, first_of_caller, first_of_agent } = others;
  const turnOf = ({ outcome }: DisputeSummary) => Number(outcome !== 'open');
  const both = new Map([...first_of_caller, ...first_of_agent].map((other) => [other.execution_id, other]));
  const listed = [...both.values()].sort(
    (one, other) => turnOf(one) - turnOf(other) || Date.parse(other.opened_at) - Date.parse(one.opened_at),
  );
  const list = useId();
  return (
    <Card className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <h2 className="font-semibold">Other disputes</h2>
      <Facts
        rows={[
          ['This caller', `${formatCounted(others.caller_executions, 'ended call')}, ${otherWords(of_caller)}`],
          ['This agent', `${formatCounted(others.agent_executions, 'ended call')}, ${otherWords(of_agent)}`],
          [
            'This creator',
            known
              ? `${formatCounted(known.total_executions, 'ended call')}, ${otherWords({ ...known.disputes, [outcome]: Math.max(0, known.disputes[outcome] - 1) })}`
              : '…',
          ],
        ]}
      />
      {listed.length > 0 && (
        <div className="border-t border-line pt-4">
          <h3 id={list} className="text-sm font-medium">
            The newest of this caller and this agent
          </h3>
          <ul aria-labelledby={list} className="divide-y divide-line text-sm">
            {listed.map((other) => (
              <Other key={other.execution_id} dispute={other} isOfCaller={other.caller === caller} />
            ))}
          </ul>
        </div>
      )}
    </Card>
  );
}

/** Without its task, because each task that the admin reads is logged. */
function Other({ dispute, isOfCaller }: { dispute: DisputeSummary; isOfCaller: boolean }) {
  const { execution_id, agent_name, agent_id, price_usdc, outcome, opened_at, reason } = dispute;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2.5 last:pb-0">
      <TextLink to="/admin/disputes/$executionId" params={{ executionId: execution_id }}>
        {agent_name ?? shorten(agent_id)}, call {shorten(execution_id)}
      </TextLink>
      <span>{formatAmount(price_usdc)}</span>
      <span>
        <Status value={outcome}>{asSentence(OUTCOME_WORDS[outcome])}</Status>
      </span>
      <span className="w-full text-faint">
        Opened <Day at={opened_at} /> by {isOfCaller ? 'this caller' : shorten(dispute.caller)}
        {isUninformed(dispute) && ' · the caller uploaded no evidence'}
      </span>
      {(outcome === 'rejected' || outcome === 'upheld') && (
        <span className="w-full wrap-anywhere text-faint">The admin’s reason: {reason ?? 'not kept'}</span>
      )}
    </li>
  );
}

const totalOf = (counts: OtherDisputes['of_caller']): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Such as `3 other disputes (1 open, 2 rejected)`. */
function otherWords(counts: OtherDisputes['of_caller']): string {
  const parts = DISPUTE_OUTCOMES.filter((outcome) => counts[outcome] > 0).map(
    (outcome) => `${formatCount(counts[outcome])} ${OUTCOME_WORDS[outcome]}`,
  );
  return parts.length === 0
    ? 'no other disputes'
    : `${formatCounted(totalOf(counts), 'other dispute')} (${parts.join(', ')})`;
}

/** Outcomes of the latest calls as a strip of bars, newest on the right, with a summary as text. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { AgentOutcome } from '../../../sdk/wire/procedures.ts';
import { Unread } from '../../parts/trouble.tsx';
import { formatDuration } from '../../parts/values.tsx';
import { call } from '../../service.ts';

const LOOKS: Record<AgentOutcome['outcome'], { color: string; height: string; words: string }> = {
  completed: { color: 'bg-good', height: 'h-full', words: 'completed' },
  failed: { color: 'bg-bad', height: 'h-1/2', words: 'failed and refunded' },
  refunded: { color: 'bg-strong', height: 'h-1/2', words: 'refunded through no fault of the agent’s' },
  disputed: { color: 'bg-warn', height: 'h-3/4', words: 'in an open dispute' },
  dispute_upheld: { color: 'bg-bad', height: 'h-3/4', words: 'refunded after a dispute' },
};
const KINDS = Object.keys(LOOKS) as AgentOutcome['outcome'][];
const PLACES = 50;

/** The newest ended calls, newest first. */
export const outcomesQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['outcomes', agentId],
    queryFn: () => call('agents.outcomes', { agent_id: agentId }),
  });

/** Such as `completed in 73 ms`. */
export const outcomeWords = ({ outcome, execution_time_ms }: AgentOutcome): string =>
  `${LOOKS[outcome].words}${execution_time_ms === null ? '' : ` in ${formatDuration(execution_time_ms)}`}`;

export function Outcomes({ agentId }: { agentId: string }) {
  const query = useQuery(outcomesQuery(agentId));
  const { data } = query;
  return (
    <section>
      <h3 className="mb-3 font-semibold">Recent calls</h3>
      <div className="min-h-20">
        {data ? <Strip outcomes={data.outcomes} /> : <Unread query={query} what="The recent calls" className="h-12" />}
      </div>
    </section>
  );
}

function Strip({ outcomes }: { outcomes: AgentOutcome[] }) {
  return (
    <>
      <ol className="flex h-12 items-end gap-px sm:gap-0.5" aria-label="Newest calls, oldest first">
        {Array.from({ length: PLACES - outcomes.length }, (_, index) => (
          <li key={`none ${index}`} aria-hidden="true" className="h-full min-w-0 flex-1 rounded-sm bg-sunken" />
        ))}
        {outcomes.toReversed().map((outcome, index) => (
          <Bar key={index} outcome={outcome} />
        ))}
      </ol>
      <p className="mt-2.5 text-sm text-faint">{sumOf(outcomes)}</p>
    </>
  );
}

function sumOf(outcomes: AgentOutcome[]): string {
  if (outcomes.length === 0) return 'Nobody has called it yet.';
  const counts = KINDS.map((kind) => [kind, outcomes.filter(({ outcome }) => outcome === kind).length] as const);
  const words = counts.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${LOOKS[kind].words}`);
  const calls = outcomes.length === 1 ? '1 call' : `${outcomes.length} calls`;
  const total = outcomes.length < PLACES ? calls : `Of the last ${calls}`;
  return `${total}: ${words.join(', ')}.`;
}

function Bar({ outcome }: { outcome: AgentOutcome }) {
  const { color, height } = LOOKS[outcome.outcome];
  const time = new Date(outcome.ended_at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  const title = `${time}: ${outcomeWords(outcome)}`;
  return (
    <li title={title} className="flex h-full min-w-0 flex-1 items-end rounded-sm bg-sunken">
      <span className={`w-full rounded-sm ${color} ${height}`} aria-hidden="true" />
      <span className="sr-only">{title}</span>
    </li>
  );
}

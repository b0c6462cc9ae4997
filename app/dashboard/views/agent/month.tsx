/** Outcomes of the latest calls of an agent, and its last 30 days, or a note that nobody has called it. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { AgentOutcome } from '../../../sdk/wire/procedures.ts';
import type { AgentFull, AgentStatistics } from '../../../sdk/wire/wire.ts';
import { CallsChart, LatencyChart } from '../../parts/agentCharts.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { formatCount, formatCounted, formatDuration } from '../../parts/values.tsx';
import { call, request } from '../../service.ts';

export function Month({ agent: { agent_id: agentId } }: { agent: AgentFull }) {
  const query = useQuery({
    queryKey: ['agent-statistics', agentId],
    queryFn: () => request('getAgentStatistics', { agent_id: agentId }),
  });
  return (
    <section>
      <h3 className="mb-3 font-semibold">The last 30 days</h3>
      {query.data ? (
        <Charts statistics={query.data} />
      ) : (
        <Unread query={query} what="The statistics" className="h-80" />
      )}
    </section>
  );
}

const REASONS: Record<AgentStatistics['refunds'][number]['reason'], string> = {
  creator_failed: 'the agent reported a failure',
  creator_timeout: 'the agent did not answer in time',
  invalid_answer: 'the answer was not a valid signed result',
  payout_unusable: 'the creator’s account could not be paid',
  unserved: 'the marketplace could not serve them',
  expired: 'nobody settled them in time',
};

function Charts({ statistics: { days, total, refunds } }: { statistics: AgentStatistics }) {
  const { completed, failed, refunded, p50_ms, p95_ms } = total;
  if (completed + failed + refunded === 0) {
    return <p className="text-sm text-faint">Nobody has called it in the last 30 days.</p>;
  }
  const words = refunds.map(({ reason, executions }) => `${formatCount(executions)} because ${REASONS[reason]}`);
  return (
    <>
      <div className="grid gap-4 xl:grid-cols-2">
        <CallsChart days={days} />
        <LatencyChart
          days={days}
          summary={
            p50_ms === null || p95_ms === null
              ? 'No completed calls'
              : `Median about ${formatDuration(p50_ms)}, 95 % within ${formatDuration(p95_ms)}`
          }
        />
      </div>
      {words.length > 0 && <p className="mt-3 text-sm text-faint">Refunded: {words.join(', ')}.</p>}
    </>
  );
}

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
const outcomesQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['outcomes', agentId],
    queryFn: () => call('agents.outcomes', { agent_id: agentId }),
  });

/** Such as `completed in 73 ms`. */
const outcomeWords = ({ outcome, execution_time_ms }: AgentOutcome): string =>
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
  const calls = formatCounted(outcomes.length, 'call');
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

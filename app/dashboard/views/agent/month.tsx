/** The last 30 days of an agent, or a note that nobody has called it. */
import { useQuery } from '@tanstack/react-query';
import type { AgentFull, AgentStatistics } from '../../../sdk/wire/wire.ts';
import { CallsChart, LatencyChart } from '../../parts/agentCharts.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { formatCount, formatDuration } from '../../parts/values.tsx';
import { request } from '../../service.ts';

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

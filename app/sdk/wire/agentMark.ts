/** The mark that warns callers of an agent. */
import type { AgentSummary } from './agents.ts';

/** Below this share of completed calls an agent is failing. */
const POOR_RATE = 0.5;
/** Calls before an agent is called failing. */
export const MIN_CALLS = 5;

type Rated = Pick<AgentSummary, 'total_executions' | 'success_rate'>;

export const isFailing = ({ total_executions, success_rate }: Rated): boolean =>
  total_executions > 0 && success_rate < POOR_RATE;

/** `failing`: by all of its calls. `degraded`: by the last ones. Null for a healthy agent. */
export function markOf(agent: Rated & { health: Pick<AgentSummary['health'], 'status'> }) {
  if (isFailing(agent) && agent.total_executions >= MIN_CALLS) return 'failing';
  return agent.health.status === 'degraded' ? 'degraded' : null;
}

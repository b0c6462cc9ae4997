/** The caller's task and parameters: from the service, or from this tab if the service does not have them. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Parameters, parameterLines } from '../../parts/parameters.tsx';
import { Button, Card, Skeleton } from '../../parts/ui.tsx';
import { formatList } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { askedIn, keep } from '../agent/run/kept.ts';
import type { Execution } from './facts.tsx';

/** Longer parameters are folded. */
const MOST_LINES = 8;
/** Characters of a line, about. */
const LINE = 80;

const linesOf = (text: string): number =>
  text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE)), 0);

const askedQuery = (id: string) =>
  queryOptions({
    queryKey: ['execution', id, 'asked'],
    queryFn: () => call('executions.asked', { execution_id: id }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Opens the agent's Run tab with the same input. Nothing is paid before it is confirmed there. */
export function RunAgain({ execution: { execution_id: id, agent_id: agentId, status } }: { execution: Execution }) {
  const { data } = useQuery(askedQuery(id));
  const navigate = useNavigate();
  const asked = data && (data.asked ?? askedIn(id));
  if (!asked) return null;
  return (
    <Button
      kind={status === 'disputed' ? 'plain' : 'primary'}
      className="max-sm:col-span-2"
      onClick={() => {
        keep(agentId, { task: asked.task, parameters: asked.parameters, timeout: '', call: null });
        void navigate({ to: '/agents/$agentId', params: { agentId }, search: { tab: 'run' } });
      }}
    >
      Run again …
    </Button>
  );
}

export function Asked({ execution: { execution_id: id } }: { execution: Execution }) {
  const { data, isLoading } = useQuery(askedQuery(id));
  // Reserves the space, so that what is below does not move later.
  if (isLoading) return <Skeleton className="h-52 max-lg:order-2" />;
  const asked = data?.asked ?? askedIn(id);
  if (!asked) return null;
  return (
    <Card className="min-w-0 max-lg:order-2">
      <h2 className="mb-3 font-semibold">What was asked</h2>
      <p className="text-sm whitespace-pre-wrap">{asked.task}</p>
      <Folded parameters={asked.parameters} />
    </Card>
  );
}

function Folded({ parameters }: { parameters: Record<string, unknown> }) {
  const names = Object.keys(parameters);
  if (names.length === 0) return null;
  const box = (
    <div className="mt-3">
      <Parameters parameters={parameters} />
    </div>
  );
  if (linesOf(parameterLines(parameters)) <= MOST_LINES) return box;
  return (
    <details className="mt-3 text-sm">
      <summary className="py-1">Parameters: {formatList(names)}</summary>
      {box}
    </details>
  );
}

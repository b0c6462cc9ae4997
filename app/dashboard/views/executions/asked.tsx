/** The caller's task and parameters: from the service, or from this tab if the service does not have them. */
import { useQuery } from '@tanstack/react-query';
import { Card, Skeleton } from '../../parts/ui.tsx';
import { call } from '../../service.ts';
import { askedIn } from '../agent/run/kept.ts';
import type { Execution } from './facts.tsx';

export function Asked({ execution: { execution_id: id } }: { execution: Execution }) {
  const { data, isLoading } = useQuery({
    queryKey: ['execution', id, 'asked'],
    queryFn: () => call('executions.asked', { execution_id: id }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  // Reserves the space, so that the result below does not move later.
  if (isLoading) return <Skeleton className="h-52" />;
  const asked = data?.asked ?? askedIn(id);
  if (!asked) return null;
  const { parameters } = asked;
  return (
    <Card className="min-w-0">
      <h2 className="mb-3 font-semibold">What you asked</h2>
      <p className="text-sm whitespace-pre-wrap">{asked.task}</p>
      {Object.keys(parameters).length > 0 && (
        <section tabIndex={0} aria-label="Parameters" className="mt-3 max-h-64 overflow-auto rounded-lg bg-sunken p-4">
          <pre className="font-mono text-[0.8125rem] whitespace-pre-wrap">{JSON.stringify(parameters, null, 2)}</pre>
        </section>
      )}
    </Card>
  );
}

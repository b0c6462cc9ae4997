/** What the caller asked: task and parameters, by the receipt, or by this tab where there is no receipt. */
import { useQuery } from '@tanstack/react-query';
import { Card, Skeleton } from '../../parts/ui.tsx';
import { rest } from '../../service.ts';
import { askedIn } from '../agent/run/kept.ts';
import type { Execution } from './facts.tsx';

export function Asked({ execution: { execution_id: id, creator_amount_usdc } }: { execution: Execution }) {
  const isSettled = creator_amount_usdc > 0;
  const { data: receipt, isLoading } = useQuery({
    queryKey: ['receipt', id],
    queryFn: () => rest.getReceipt(id),
    enabled: isSettled,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // Its place, so that the result does not move while it is read.
  if (isLoading) return <Skeleton className="h-52" />;
  const asked = receipt ?? askedIn(id);
  if (asked?.task === undefined) return null;
  const parameters = asked.parameters ?? {};
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

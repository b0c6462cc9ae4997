/** The caller's task and parameters: from the service, or from this tab if the service does not have them. */
import { useQuery } from '@tanstack/react-query';
import { TextBox } from '../../parts/textBox.tsx';
import { Card, Skeleton } from '../../parts/ui.tsx';
import { formatList } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { askedIn } from '../agent/run/kept.ts';
import type { Execution } from './facts.tsx';

/** Longer parameters are folded. */
const MOST_LINES = 8;
/** Characters of a line, about. */
const LINE = 80;

const linesOf = (text: string): number =>
  text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE)), 0);

export function Asked({ execution: { execution_id: id } }: { execution: Execution }) {
  const { data, isLoading } = useQuery({
    queryKey: ['execution', id, 'asked'],
    queryFn: () => call('executions.asked', { execution_id: id }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  // Reserves the space, so that what is below does not move later.
  if (isLoading) return <Skeleton className="h-52 max-lg:order-2" />;
  const asked = data?.asked ?? askedIn(id);
  if (!asked) return null;
  return (
    <Card className="min-w-0 max-lg:order-2">
      <h2 className="mb-3 font-semibold">What you asked</h2>
      <p className="text-sm whitespace-pre-wrap">{asked.task}</p>
      <Parameters parameters={asked.parameters} />
    </Card>
  );
}

function Parameters({ parameters }: { parameters: Record<string, unknown> }) {
  const names = Object.keys(parameters);
  if (names.length === 0) return null;
  const text = JSON.stringify(parameters, null, 2);
  const box = (
    <div className="mt-3">
      <TextBox label="Parameters" text={text} />
    </div>
  );
  if (linesOf(text) <= MOST_LINES) return box;
  return (
    <details className="mt-3 text-sm">
      <summary className="py-1 text-faint hover:text-ink">Parameters: {formatList(names)}</summary>
      {box}
    </details>
  );
}

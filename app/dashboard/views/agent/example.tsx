/** The creator's example: what was sent in a passed test, and the result that the creator signed. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { missingIn } from '../../parts/form/schema.ts';
import { Parameters } from '../../parts/parameters.tsx';
import { TextBox } from '../../parts/textBox.tsx';
import { Card, Part, Skeleton } from '../../parts/ui.tsx';
import { Time } from '../../parts/values.tsx';
import { exampleQuery } from '../../service.ts';

const Result = lazy(() => import('../../parts/result/result.tsx'));

/** True if the input is in parameters, so that the task is mostly a title and comes after them. */
export const isTitled = ({ input_schema }: AgentFull): boolean => missingIn(input_schema, {}).length > 0;

export function Example({ agent }: { agent: AgentFull }) {
  const { data: example } = useQuery(exampleQuery(agent.agent_id));
  if (!example) return null;
  const task = (
    <Part title="Task">
      <TextBox label="Task" text={example.task} />
    </Part>
  );
  return (
    <section>
      <h2 className="mb-1 text-lg font-semibold">Example</h2>
      <p className="mb-3 text-sm text-faint">
        A test by its creator, <Time at={example.tested_at} />. The marketplace has checked the signature of the result.
      </p>
      <Card className="grid gap-4">
        {!isTitled(agent) && task}
        {Object.keys(example.parameters).length > 0 && (
          <Part title="Parameters">
            <Parameters parameters={example.parameters} />
          </Part>
        )}
        {isTitled(agent) && task}
        <Part title={example.is_cut ? 'Beginning of the result' : 'Result'}>
          <Suspense fallback={<Skeleton className="h-40" />}>
            <Result text={example.result} name="example" />
          </Suspense>
        </Part>
      </Card>
    </section>
  );
}

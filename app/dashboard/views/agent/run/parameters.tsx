/** The parameters of a call as a form or as JSON, with an example to fill in. */
import type { RefObject } from 'react';
import type { AgentFull } from '../../../../sdk/wire/wire.ts';
import type { SchemaFormHandle } from '../../../parts/form/jsonField.tsx';
import { isFormable } from '../../../parts/form/schema.ts';
import SchemaForm from '../../../parts/form/schemaForm.tsx';
import { Button, Skeleton } from '../../../parts/ui.tsx';
import { exampleParameters, hasExamples } from '../schema/example.ts';
import { type Draft, isExample } from './draft.ts';

interface ParametersProps {
  agent: AgentFull;
  draft: Draft;
  form: RefObject<SchemaFormHandle | null>;
}

/** Fills in the creator's example; null if there is none, or if the form has it. */
function fillInOf(agent: AgentFull, draft: Draft): (() => void) | null {
  const { example, task } = draft;
  if (isExample(draft) || (!example && !hasExamples(agent.input_schema))) return null;
  return () =>
    draft.change({
      parameters: example?.parameters ?? exampleParameters(agent.input_schema),
      ...(example && task.trim() === '' && { task: example.task }),
    });
}

export function Parameters({ agent, draft, form }: ParametersProps) {
  const fillIn = fillInOf(agent, draft);
  return (
    <section className="grid gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-semibold">Parameters</h2>
        <span className="flex flex-wrap gap-2">
          {fillIn && (
            <Button small onClick={fillIn}>
              Use the example
            </Button>
          )}
          {isFormable(agent.input_schema) && (
            <Button small aria-pressed={draft.asJson} onClick={() => draft.setAsJson(!draft.asJson)}>
              {draft.asJson ? 'Edit as a form' : 'Edit as JSON'}
            </Button>
          )}
        </span>
      </div>
      {/* A form reports its defaults at once, like input. */}
      {draft.isReading ? (
        <Skeleton className="h-40" />
      ) : (
        <SchemaForm
          ref={form}
          schema={agent.input_schema}
          value={draft.parameters}
          onChange={(parameters) => draft.change({ parameters })}
          asJson={draft.asJson}
        />
      )}
    </section>
  );
}

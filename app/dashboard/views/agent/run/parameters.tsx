/** The parameters of a call, as a form or as JSON, and an example to fill in. */
import { useQuery } from '@tanstack/react-query';
import type { RefObject } from 'react';
import type { AgentFull } from '../../../../sdk/wire/wire.ts';
import type { SchemaFormHandle } from '../../../parts/form/jsonField.tsx';
import { isFormable } from '../../../parts/form/schema.ts';
import SchemaForm from '../../../parts/form/schemaForm.tsx';
import { Button } from '../../../parts/ui.tsx';
import { exampleQuery } from '../example.tsx';
import { exampleParameters, hasExamples } from '../schema/example.ts';

interface Draft {
  task: string;
  setTask(task: string): void;
  parameters: Record<string, unknown>;
  setParameters(parameters: Record<string, unknown>): void;
  asJson: boolean;
  setAsJson(asJson: boolean): void;
}

interface ParametersProps {
  agent: AgentFull;
  draft: Draft;
  form: RefObject<SchemaFormHandle | null>;
  onFillIn: (() => void) | null;
}

/** Fills in the creator's example; null if there is none. */
export function useFillIn(agent: AgentFull, draft: Draft): (() => void) | null {
  const { data: example } = useQuery(exampleQuery(agent.agent_id));
  if (!example && !hasExamples(agent.input_schema)) return null;
  return () => {
    draft.setParameters(example?.parameters ?? exampleParameters(agent.input_schema));
    if (example && draft.task.trim() === '') draft.setTask(example.task);
  };
}

export function Parameters({ agent, draft, form, onFillIn }: ParametersProps) {
  return (
    <section className="grid gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-semibold">Parameters</h2>
        <span className="flex flex-wrap gap-2">
          {onFillIn && (
            <Button small onClick={onFillIn}>
              Use the example
            </Button>
          )}
          {isFormable(agent.input_schema) && (
            <Button small kind="quiet" aria-pressed={draft.asJson} onClick={() => draft.setAsJson(!draft.asJson)}>
              {draft.asJson ? 'Edit as a form' : 'Edit as JSON'}
            </Button>
          )}
        </span>
      </div>
      <SchemaForm
        ref={form}
        schema={agent.input_schema}
        value={draft.parameters}
        onChange={draft.setParameters}
        asJson={draft.asJson}
      />
    </section>
  );
}

/** The input of a call: its parameters as a form or as JSON, with an example to fill in, and what the wallet has sent before. */
import { useQuery } from '@tanstack/react-query';
import type { RefObject } from 'react';
import type { AgentInput } from '../../../../sdk/wire/procedures.ts';
import type { AgentFull } from '../../../../sdk/wire/wire.ts';
import type { SchemaFormHandle } from '../../../parts/form/jsonField.tsx';
import { isFormable } from '../../../parts/form/schema.ts';
import SchemaForm from '../../../parts/form/schemaForm.tsx';
import { Button, cx, LINK, Skeleton } from '../../../parts/ui.tsx';
import { Time } from '../../../parts/values.tsx';
import { call } from '../../../service.ts';
import { useSession } from '../../../wallet/session.ts';
import { useShared } from '../../../wallet/wallets.ts';
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

export function LastInputs({ agentId, onUse }: { agentId: string; onUse(input: AgentInput): void }) {
  const { wallet } = useSession();
  const isShared = useShared();
  const { data } = useQuery({
    queryKey: ['last-inputs', agentId, wallet],
    queryFn: () => call('agents.lastInputs', { agent_id: agentId }),
    enabled: Boolean(wallet),
  });
  const inputs = distinct(data?.inputs ?? []);
  if (inputs.length === 0) return null;
  return (
    <section>
      <h2 className="mb-2 font-semibold">
        {isShared ? 'Last inputs of this shared test wallet, also by others' : 'Your last inputs'}
      </h2>
      <ul className="divide-y divide-line rounded-lg border border-line bg-raised">
        {inputs.map((input) => (
          <li key={input.execution_id}>
            <button
              type="button"
              onClick={() => onUse(input)}
              className="flex min-h-10 w-full items-center justify-between gap-4 px-3 py-2 text-left text-sm hover:bg-sunken"
            >
              <span className="min-w-0 truncate">
                <span className="sr-only">Use again: </span>
                {input.task}
              </span>
              <span className="flex shrink-0 gap-3 text-faint">
                <Time at={input.asked_at} />
                <span aria-hidden="true" className={cx(LINK, 'max-sm:hidden')}>
                  Use again
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Of equal inputs, keeps only the newest. */
function distinct(inputs: AgentInput[]): AgentInput[] {
  const text = ({ task, parameters }: AgentInput) => JSON.stringify([task, parameters]);
  return inputs.filter((input, index) => inputs.findIndex((other) => text(other) === text(input)) === index);
}

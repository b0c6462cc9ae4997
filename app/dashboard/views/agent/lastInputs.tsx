/** This wallet's last inputs to the agent. One click fills the form with one of them. */
import { useQuery } from '@tanstack/react-query';
import type { AgentInput } from '../../../sdk/wire/procedures.ts';
import { Time } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { useSession } from '../../wallet/session.ts';
import { useShared } from '../../wallet/wallets.ts';

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
      <h2 className="mb-2 text-sm font-medium">
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
              <span className="shrink-0 text-faint">
                <Time at={input.asked_at} />
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

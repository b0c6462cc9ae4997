/** The other agents of the same creator. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { ForTests, isForTests } from '../../parts/badges.tsx';
import { TextLink } from '../../parts/links.tsx';
import { formatAmount } from '../../parts/values.tsx';
import { request } from '../../service.ts';

const SHOWN = 5;
/** Agents for tests may be among them. */
const READ = 50;

export function CreatorAgents({ agent }: { agent: AgentFull }) {
  const creator = agent.creator.pubkey;
  const { data } = useQuery({
    queryKey: ['agents', { creator, limit: READ }],
    queryFn: () => request('listAgents', { creator, limit: READ }),
  });
  if (!data) return null;
  // A paused agent is in no list.
  const count = data.total - Number(data.agents.some(({ agent_id }) => agent_id === agent.agent_id));
  const others = data.agents
    .filter((one) => one.agent_id !== agent.agent_id && (!isForTests(one) || isForTests(agent)))
    .slice(0, SHOWN);
  if (others.length === 0) return null;
  return (
    <section className="border-t border-line pt-5 text-sm">
      <h2 className="mb-1 text-lg font-semibold">More by this creator</h2>
      <ul className="divide-y divide-line">
        {others.map(({ agent_id, name, price_per_call_usdc, tags }) => (
          <li key={agent_id}>
            <Link
              to="/agents/$agentId"
              params={{ agentId: agent_id }}
              className="flex min-h-9 items-center justify-between gap-3 py-1.5 hover:text-accent"
            >
              <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
                <span className="font-medium">{name}</span>
                {isForTests({ tags }) && <ForTests />}
              </span>
              <span className="shrink-0 text-faint tabular-nums">{formatAmount(price_per_call_usdc)}</span>
            </Link>
          </li>
        ))}
      </ul>
      {count > others.length && (
        <TextLink to="/" search={{ creator }} className="mt-2 inline-block py-1">
          All {count} other agents of <bdi>{agent.creator.display_name}</bdi>
        </TextLink>
      )}
    </section>
  );
}

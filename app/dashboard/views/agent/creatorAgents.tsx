/** The other agents of the same creator. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { formatAmount } from '../../parts/values.tsx';
import { rest } from '../../service.ts';

const SHOWN = 5;

export function CreatorAgents({ agent }: { agent: AgentFull }) {
  const creator = agent.creator.pubkey;
  const { data } = useQuery({
    queryKey: ['agents', { creator, limit: SHOWN + 1 }],
    queryFn: () => rest.listAgents({ creator, limit: SHOWN + 1 }),
  });
  if (!data) return null;
  const others = data.agents.filter(({ agent_id }) => agent_id !== agent.agent_id).slice(0, SHOWN);
  const isListed = data.total > others.length;
  if (others.length === 0) return <p className="text-sm text-faint">This is the only agent of this creator.</p>;
  return (
    <div className="text-sm">
      <h3 className="mb-1 text-faint">More by this creator</h3>
      <ul className="divide-y divide-line">
        {others.map(({ agent_id, name, price_per_call_usdc }) => (
          <li key={agent_id}>
            <Link
              to="/agents/$agentId"
              params={{ agentId: agent_id }}
              className="flex min-h-9 items-center justify-between gap-3 py-1.5 hover:text-accent"
            >
              <span className="truncate font-medium">{name}</span>
              <span className="shrink-0 text-faint tabular-nums">{formatAmount(price_per_call_usdc)}</span>
            </Link>
          </li>
        ))}
      </ul>
      {isListed && (
        <Link to="/" search={{ creator }} className="mt-2 inline-block py-1 text-accent underline underline-offset-2">
          All {data.total} agents of this creator
        </Link>
      )}
    </div>
  );
}

/** Why an agent cannot be called, from facts of the chain, and others that do similar work. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isFailing } from '../../../sdk/wire/agentMark.ts';
import type { MarketplaceConfig } from '../../../sdk/wire/procedures.ts';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { Avatar } from '../../parts/avatar.tsx';
import { isForTests } from '../../parts/badges.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Note, Skeleton } from '../../parts/ui.tsx';
import { formatAmount } from '../../parts/values.tsx';
import { agentsQuery, configQuery } from '../../service.ts';
import { PAGE_SORT } from '../catalogueSearch.ts';

/** Others that are offered, and how many of the tags are searched for them. */
const OFFERED = 3;
const TAGS_SEARCHED = 3;

export function Paused({ agent }: { agent: AgentFull }) {
  const { data: config } = useQuery(configQuery);
  const reason = config && reasonOf(agent, config);
  return (
    <section aria-label="Why it cannot be called" className="mb-8">
      <Note tone="warn" title={reason ? reason.title : 'This agent is paused'}>
        {reason ? (
          <>
            {reason.text} Until then calls are refused, and nothing is paid. <TextLink to="/">Browse agents</TextLink>
          </>
        ) : (
          <Skeleton className="h-5" />
        )}
      </Note>
    </section>
  );
}

/**
 * An agent is paused by its creator, or by an upheld dispute that leaves too little collateral. Then it can be resumed
 * only after a deposit.
 */
function reasonOf(agent: AgentFull, config: MarketplaceConfig): { title: string; text: string } {
  const { price_per_call_usdc: price, collateral_usdc: held, slashed_usdc: taken } = agent;
  const needed = config.collateral_tiers.find(({ max_price_usdc }) => price <= max_price_usdc)?.deposit_usdc;
  if (needed === undefined || held >= needed) {
    return {
      title: taken > 0 ? 'Its creator keeps this agent paused' : 'Its creator has paused this agent',
      text: 'Only its creator can resume it.',
    };
  }
  const lack = `Its collateral is ${formatAmount(held)}, and its price needs ${formatAmount(needed)}.`;
  const resume = 'Its creator can resume it after a deposit.';
  return taken > 0
    ? {
        title: 'Paused after an upheld dispute',
        text: `${formatAmount(taken)} of its collateral went to disputes. ${lack} ${resume}`,
      }
    : { title: 'Paused: its collateral is too low', text: `${lack} ${resume}` };
}

/** Active agents that work and share the most tags, the best first. None for testing, even beside one. */
export function Others({ agent }: { agent: AgentFull }) {
  const found = useQueries({
    queries: agent.tags
      .slice(0, TAGS_SEARCHED)
      .map((tag) => agentsQuery({ tags: tag, sort: PAGE_SORT, limit: OFFERED + 1 })),
  });
  if (found.some(({ isPending }) => isPending)) return <Skeleton className="h-16" />;
  const all = found.flatMap(({ data }) => data?.agents ?? []);
  const shared = (tags: string[]) => tags.filter((tag) => agent.tags.includes(tag)).length;
  const others = [...new Map(all.map((one) => [one.agent_id, one])).values()]
    .filter((one) => one.agent_id !== agent.agent_id && one.health.status === 'ok' && !isFailing(one))
    .filter((one) => !isForTests(one))
    .toSorted((one, other) => shared(other.tags) - shared(one.tags))
    .slice(0, OFFERED);
  if (others.length === 0) return null;
  return (
    <section aria-label="Similar agents">
      <h2 className="mb-3 text-lg font-semibold">Similar agents</h2>
      <ul className="grid gap-3 sm:grid-cols-3">
        {others.map(({ agent_id, name, tagline, price_per_call_usdc, picture_path }) => (
          <li key={agent_id}>
            <Link
              to="/agents/$agentId"
              params={{ agentId: agent_id }}
              className="flex h-full items-start gap-3 rounded-xl border border-line bg-raised p-4 text-sm hover:border-strong"
            >
              <Avatar address={agent_id} picture={picture_path} className="size-9" />
              <span className="min-w-0">
                <span className="block font-semibold">{name}</span>
                <span className="line-clamp-2 text-faint">{tagline}</span>
                <span className="mt-1 block tabular-nums">{formatAmount(price_per_call_usdc)} a call</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

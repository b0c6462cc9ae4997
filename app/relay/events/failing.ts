/**
 * Decides when to inform a creator that callers see a mark on its agent: failing, or degraded. Only a failure brings a
 * mark, so after other ends only agents are judged whose creator was informed. It is informed again once the mark was
 * gone.
 */
import { textsOf } from '../../database/portable.ts';
import { markOf } from '../../sdk/wire/agentMark.ts';
import type { EventData } from '../../sdk/wire/events.ts';
import type { AgentHealthReader } from '../agents/agentHealth.ts';
import type { Followed } from '../ledger/events.ts';
import type { Databases } from '../ledger/tables.ts';

const TYPE = 'agent.failing';

export interface FailingDeps extends Pick<Databases, 'views'> {
  agentHealth: Pick<AgentHealthReader, 'healthOf'>;
}

/** `ended`: the listings of executions that ended. `failed`: those of them that may have got another failure. */
export async function judgeAgents(
  { views, agentHealth }: FailingDeps,
  ended: ReadonlySet<string>,
  failed: ReadonlySet<string>,
): Promise<Followed> {
  const judged: Followed = { events: [], raised: [], over: [] };
  if (ended.size === 0) return judged;
  const agents = await views
    .selectFrom('chain.agent_statistics as statistics')
    .innerJoin('chain.listings as listings', 'listings.listing', 'statistics.listing')
    .leftJoin('warnings', (join) =>
      join
        .onRef('warnings.wallet', '=', 'listings.creator')
        .on('warnings.type', '=', TYPE)
        .onRef('warnings.subject', '=', 'listings.listing'),
    )
    .select(['listings.listing', 'creator', 'total_executions', 'success_rate', 'subject as informed'])
    .where('statistics.listing', 'in', textsOf(views, [...ended]))
    .execute();
  for (const { listing, creator, total_executions, success_rate, informed } of agents) {
    if (informed === null && !failed.has(listing)) continue;
    const health = await agentHealth.healthOf(listing);
    const mark = markOf({ total_executions: Number(total_executions), success_rate, health });
    const warning = { wallet: creator, type: TYPE, subject: listing };
    if (informed !== null && mark === null) judged.over.push(warning);
    if (informed !== null || mark === null) continue;
    const { success_rate_recent } = health;
    const data: EventData<typeof TYPE> = { agent_id: listing, success_rate, success_rate_recent };
    judged.events.push({ wallet: creator, type: TYPE, data: JSON.stringify(data) });
    judged.raised.push(warning);
  }
  return judged;
}

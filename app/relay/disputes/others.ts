/** How the other disputes of a caller and of an agent ended, for the admin, who decides one of them. */
import { sql } from 'kysely';
import { sumRows } from '../../database/portable.ts';
import type { DisputeOutcome, DisputeSummary, OtherDisputes } from '../../sdk/wire/procedures.ts';
import { statisticsOf } from '../agents/ownListings.ts';
import { type DisputesDeps, listOthers } from './lists.ts';

/** Disputes of the caller, and of the agent, that are described. */
const DESCRIBED = 5;

/** Each dispute has cost a bond, so there are few. */
export async function readOthers(
  deps: DisputesDeps,
  { execution_id, caller, agent_id }: DisputeSummary,
): Promise<OtherDisputes> {
  const { views } = deps;
  const count = async (column: 'caller' | 'listing', value: string) => {
    const { rows } = await sql<{ outcome: DisputeOutcome; disputes: bigint }>`
      SELECT outcome, count(*) AS disputes FROM chain.disputes
      WHERE ${sql.ref(column)} = ${value} AND execution_id <> ${execution_id} GROUP BY outcome`.execute(views);
    const counts = { open: 0, rejected: 0, upheld: 0, lapsed: 0 };
    for (const { outcome, disputes } of rows) counts[outcome] = Number(disputes);
    return counts;
  };
  const statistics = (await statisticsOf(views, [agent_id])).get(agent_id);
  // The row of an empty listing has the calls of all.
  const ofAll = sql`SELECT executions AS amount FROM chain.caller_totals WHERE caller = ${caller} AND listing = ''`;
  const calls = await sumRows(views, ofAll);
  return {
    of_caller: await count('caller', caller),
    of_agent: await count('listing', agent_id),
    caller_executions: Number(calls),
    agent_executions: Number(statistics?.total_executions ?? 0n),
    first_of_caller: await listOthers(deps, 'caller', { value: caller, execution_id, limit: DESCRIBED }),
    first_of_agent: await listOthers(deps, 'listing', { value: agent_id, execution_id, limit: DESCRIBED }),
  };
}

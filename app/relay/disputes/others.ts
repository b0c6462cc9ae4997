/** How the other disputes of a caller and of an agent ended, for whoever reads one of them. */
import { type Kysely, sql } from 'kysely';
import type { DisputeOutcome, DisputeSummary, OtherDisputes } from '../../sdk/wire/procedures.ts';
import { statisticsOf } from '../agents/ownListings.ts';
import type { LedgerDatabase } from '../ledger/tables.ts';

/** Each dispute has cost a bond, so there are few. */
export async function readOthers(
  views: Kysely<LedgerDatabase>,
  { execution_id, caller, agent_id }: DisputeSummary,
): Promise<OtherDisputes> {
  const count = async (column: 'caller' | 'listing', value: string) => {
    const { rows } = await sql<{ outcome: DisputeOutcome; disputes: bigint }>`
      SELECT outcome, count(*) AS disputes FROM chain.disputes
      WHERE ${sql.ref(column)} = ${value} AND execution_id <> ${execution_id} GROUP BY outcome`.execute(views);
    const counts = { open: 0, rejected: 0, upheld: 0, lapsed: 0 };
    for (const { outcome, disputes } of rows) counts[outcome] = Number(disputes);
    return counts;
  };
  const statistics = (await statisticsOf(views, [agent_id])).get(agent_id);
  return {
    of_caller: await count('caller', caller),
    of_agent: await count('listing', agent_id),
    agent_executions: Number(statistics?.total_executions ?? 0n),
  };
}

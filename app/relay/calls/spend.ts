/** A wallet's payments by day, key and agent: its daily statement in more detail. */
import { sql } from 'kysely';
import { dayOf, toDay } from '../../sdk/wire/time.ts';
import type { SpendRow, SpendStatement } from '../../sdk/wire/wire.ts';
import { agentNames, type RecordsDeps } from './records.ts';
import {
  addEnd,
  addOutcome,
  newSums,
  type Range,
  rangeOf,
  readEnds,
  readOutcomes,
  type StatementsDeps,
  type Sums,
  shown,
} from './statements.ts';

interface Spend extends Sums {
  day: number;
  keyId: string | null;
  listing: string;
}

/** GET /v1/statements/spend. Throws ApiError 400 for a range that is empty or too long. */
export async function readSpend(
  deps: StatementsDeps & Pick<RecordsDeps, 'documents'>,
  wallet: string,
  asked: Range,
): Promise<SpendStatement> {
  const { first, last, span } = rangeOf(asked, deps.accounts.clock());
  const sums = new Map<string, Spend>();
  const at = (seconds: bigint, { key_id: keyId, listing }: { key_id: string | null; listing: string }): Spend => {
    const day = dayOf(seconds);
    const name = `${day} ${keyId ?? ''} ${listing}`;
    const sum = sums.get(name) ?? { day, keyId, listing, ...newSums() };
    sums.set(name, sum);
    return sum;
  };
  const own = sql`caller = ${wallet}`;
  await readEnds(deps.views, own, span, (row) => addEnd(at(row.settled_at, row), row));
  await readOutcomes(deps.views, own, span, (row) => addOutcome(at(row.resolved_at, row), row));
  const agents = [...new Set([...sums.values()].map(({ listing }) => listing))];
  const names = {
    agents: await agentNames(
      deps,
      agents.map((listing) => ({ listing, metadata_hash: null })),
    ),
    keys: await keyNames(deps.views, wallet),
  };
  const rows = [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => toRow(sum, names));
  return { wallet, from: toDay(first), to: toDay(last), rows };
}

/**
 * Names of the wallet's keys that are registered here, including ended ones. Strangers may register others of the same id,
 * which are never used, so the used one comes last.
 */
async function keyNames(views: StatementsDeps['views'], wallet: string): Promise<Map<string, string>> {
  const keys = await views
    .selectFrom('api_keys')
    .select(['key_id', 'name'])
    .where('wallet', '=', wallet)
    .orderBy((row) => row('last_used_ms', 'is', null), 'desc')
    .orderBy('created_ms', 'desc')
    .execute();
  return new Map(keys.map(({ key_id, name }) => [key_id, name]));
}

function toRow(sum: Spend, names: Record<'agents' | 'keys', Map<string, string>>): SpendRow {
  const { disputed, earned_usdc, fee_usdc, slashed_usdc, ...figures } = shown(sum);
  return {
    day: toDay(sum.day),
    key_id: sum.keyId,
    key_name: sum.keyId === null ? null : (names.keys.get(sum.keyId) ?? null),
    agent_id: sum.listing,
    agent_name: names.agents.get(sum.listing) ?? null,
    ...figures,
  };
}

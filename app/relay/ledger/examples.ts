/** The table of examples: the passed test of a description that its creator shows on the agent's page. */
import { type Kysely, sql } from 'kysely';
import type { LedgerDatabase, LedgerTables } from './tables.ts';

/** Keeps an example in the place of an earlier one. */
export async function putExample(ledger: Kysely<LedgerTables>, row: LedgerTables['agent_examples']): Promise<void> {
  const { example, tested_ms } = row;
  await ledger
    .insertInto('agent_examples')
    .values(row)
    .onConflict((conflict) => conflict.columns(['metadata_hash', 'wallet']).doUpdateSet({ example, tested_ms }))
    .execute();
}

/** The example of a description by this wallet. */
export function readExampleRow(views: Kysely<LedgerDatabase>, metadataHash: string, wallet: string) {
  return views
    .selectFrom('agent_examples')
    .select(['example', 'tested_ms'])
    .where('metadata_hash', '=', metadataHash)
    .where('wallet', '=', wallet)
    .executeTakeFirst();
}

/** Drops the example of a description by this wallet; false if there is none. */
export async function dropExample(
  ledger: Kysely<LedgerTables>,
  metadataHash: string,
  wallet: string,
): Promise<boolean> {
  const { numDeletedRows } = await ledger
    .deleteFrom('agent_examples')
    .where('metadata_hash', '=', metadataHash)
    .where('wallet', '=', wallet)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Drops the examples of descriptions that are neither listed nor pending for their wallet. */
export async function dropUnusedExamples(views: Kysely<LedgerDatabase>, ledger: Kysely<LedgerTables>): Promise<void> {
  const { rows } = await sql<Pick<LedgerTables['agent_examples'], 'metadata_hash' | 'wallet'>>`
    SELECT metadata_hash, wallet FROM agent_examples AS e
    WHERE NOT EXISTS (SELECT 1 FROM chain.listings AS l WHERE l.metadata_hash = e.metadata_hash AND l.creator = e.wallet)
      AND NOT EXISTS (SELECT 1 FROM pending_metadata AS p WHERE p.metadata_hash = e.metadata_hash AND p.wallet = e.wallet)
    LIMIT 100`.execute(views);
  for (const { metadata_hash, wallet } of rows) await dropExample(ledger, metadata_hash, wallet);
}

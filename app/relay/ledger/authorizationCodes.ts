/** The table of OAuth codes that wait to be exchanged for an API key. */
import type { Kysely } from 'kysely';
import type { LedgerTables } from './tables.ts';

type Ledger = Kysely<LedgerTables>;

/** Stores the code instead of an earlier one of this key. Drops expired codes. */
export async function putCode(ledger: Ledger, code: LedgerTables['authorization_codes'], nowMs: number): Promise<void> {
  await ledger.deleteFrom('authorization_codes').where('expires_ms', '<=', BigInt(nowMs)).execute();
  const { key_hash, ...columns } = code;
  await ledger
    .insertInto('authorization_codes')
    .values(code)
    .onConflict((conflict) => conflict.column('key_hash').doUpdateSet(columns))
    .execute();
}

/** Removes the code and returns it. Only one of several requests gets it, at any relay. */
export function takeCode(ledger: Ledger, digest: string): Promise<LedgerTables['authorization_codes'] | undefined> {
  return ledger.deleteFrom('authorization_codes').where('digest', '=', digest).returningAll().executeTakeFirst();
}

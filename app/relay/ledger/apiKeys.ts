/**
 * The table of API keys with the index's view of their grants. One statement reads both, because both decide if a key
 * is valid.
 */
import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { OpenDatabase } from '../../database/open.ts';
import type { LedgerDatabase, LedgerTables } from './tables.ts';

type Ledger = Kysely<LedgerTables>;

/** A registered key with the index's view of its grant; null columns if the index has no grant. */
export interface KeyRow {
  key_hash: string;
  key_id: string;
  wallet: string;
  name: string;
  revoked_ms: bigint | null;
  scopes: string;
  expires_ms: bigint | null;
  allowed_ips: string | null;
  allowed_agents: string | null;
  grant_revoked: bigint | null;
  /** Unix seconds. */
  grant_expires_at: bigint | null;
}

/** Reads the row of a key's SHA-256 by its primary key. `views` has the index attached as `chain`. */
export function createKeyReader(views: OpenDatabase<LedgerDatabase>): (keyHash: string) => Promise<KeyRow | undefined> {
  const query = (keyHash: string) => sql<KeyRow>`
    SELECT k.key_hash, k.key_id, k.wallet, k.name, k.revoked_ms, k.scopes, k.expires_ms, k.allowed_ips,
      k.allowed_agents, g.revoked AS grant_revoked, g.expires_at AS grant_expires_at
    FROM api_keys AS k LEFT JOIN chain.grants AS g ON g.wallet = k.wallet AND g.key_id = k.key_id
    WHERE k.key_hash = ${keyHash}`;
  return async (keyHash) => (await views.run(query(keyHash).compile(views.db))).rows[0] as KeyRow | undefined;
}

/** The wallet's keys with the index's view of their grants, newest first. */
export function readKeysOf(views: Kysely<LedgerDatabase>, wallet: string) {
  return views
    .selectFrom('api_keys')
    .leftJoin('chain.grants as grants', (join) =>
      join.onRef('grants.wallet', '=', 'api_keys.wallet').onRef('grants.key_id', '=', 'api_keys.key_id'),
    )
    .select(['api_keys.key_id', 'api_keys.name', 'api_keys.created_ms', 'api_keys.last_used_ms', 'api_keys.revoked_ms'])
    .select(['api_keys.scopes', 'api_keys.expires_ms', 'api_keys.allowed_ips', 'api_keys.allowed_agents'])
    .select(['grants.expires_at', 'grants.execution_count', 'grants.total_spent', 'grants.revoked'])
    .where('api_keys.wallet', '=', wallet)
    .orderBy('api_keys.created_ms', 'desc')
    .orderBy('api_keys.key_hash')
    .execute();
}

/** The owner of the key with this hash. */
export function readKey(ledger: Ledger, keyHash: string) {
  return ledger
    .selectFrom('api_keys')
    .select(['wallet', 'name', 'revoked_ms'])
    .where('key_hash', '=', keyHash)
    .executeTakeFirst();
}

/** Registers a key unless its hash is known. */
export async function insertKey(ledger: Ledger, key: Insertable<LedgerTables['api_keys']>): Promise<void> {
  await ledger
    .insertInto('api_keys')
    .values(key)
    .onConflict((conflict) => conflict.column('key_hash').doNothing())
    .execute();
}

/** Restricts the wallet's rows of this key. `columns` has at least one column. */
export async function restrictKey(
  ledger: Ledger,
  { wallet, keyId }: { wallet: string; keyId: string },
  columns: Partial<
    Pick<Selectable<LedgerTables['api_keys']>, 'scopes' | 'expires_ms' | 'allowed_ips' | 'allowed_agents'>
  >,
): Promise<void> {
  await ledger.updateTable('api_keys').set(columns).where('wallet', '=', wallet).where('key_id', '=', keyId).execute();
}

/** Marks the wallet's rows of this key as revoked at `nowMs`; an earlier mark stays. Returns true if there are any. */
export async function markRevoked(
  ledger: Ledger,
  { wallet, keyId }: { wallet: string; keyId: string },
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows: updated } = await ledger
    .updateTable('api_keys')
    .set((row) => ({ revoked_ms: row.fn.coalesce('revoked_ms', row.val(BigInt(nowMs))) }))
    .where('wallet', '=', wallet)
    .where('key_id', '=', keyId)
    .executeTakeFirst();
  return updated > 0n;
}

/**
 * Hashes of a grant that were never used, are not revoked and not restricted, newest first. `scopes` is the
 * unrestricted value.
 */
export async function readUnusedHashes(
  ledger: Ledger,
  { wallet, keyId, scopes }: { wallet: string; keyId: string; scopes: string },
): Promise<string[]> {
  const unused = await ledger
    .selectFrom('api_keys')
    .select('key_hash')
    .where('wallet', '=', wallet)
    .where('key_id', '=', keyId)
    .where('last_used_ms', 'is', null)
    .where('revoked_ms', 'is', null)
    // The wallet made a restricted row itself. Without the row, the key could be registered again, unrestricted.
    .where('scopes', '=', scopes)
    .where('expires_ms', 'is', null)
    .where('allowed_ips', 'is', null)
    .where('allowed_agents', 'is', null)
    .orderBy('created_ms', 'desc')
    .execute();
  return unused.map((row) => row.key_hash);
}

/** Drops the keys of these hashes. */
export async function dropKeys(ledger: Ledger, hashes: string[]): Promise<void> {
  await ledger.deleteFrom('api_keys').where('key_hash', 'in', hashes).execute();
}

/** Keys per statement. */
const USED_AT_ONCE = 500;

/** Writes when keys were last used: pairs of hash and unix ms. */
export async function writeKeyUse(ledger: Ledger, used: Iterable<[string, number]>): Promise<void> {
  const rows = [...used];
  // No transaction around them: it would span several turns of the event loop and block every other write.
  for (let start = 0; start < rows.length; start += USED_AT_ONCE) {
    const values = rows
      .slice(start, start + USED_AT_ONCE)
      .map(([keyHash, ms]) => sql`(CAST(${keyHash} AS TEXT), CAST(${BigInt(ms)} AS BIGINT))`);
    await sql`UPDATE api_keys SET last_used_ms = used.column2 FROM (VALUES ${sql.join(values)}) AS used
      WHERE api_keys.key_hash = used.column1`.execute(ledger);
  }
}

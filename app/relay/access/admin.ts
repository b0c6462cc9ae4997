/** Reads the marketplace's admin and relay authorities from the chain, or from the index while no node answers. */
import { type Config, relayAuthoritiesOf } from '../../sdk/program/program.ts';
import type { FoundChange } from '../../sdk/wallet/pending.ts';
import { ApiError, chainUnreadable } from '../errors.ts';
import type { Databases } from '../ledger/tables.ts';

export interface AdminDeps extends Pick<Databases, 'views'> {
  /** The chain's own Config, at most 2 s old. Rejects if the node does not answer. */
  readConfig(): Promise<Config>;
  /** The pending changes of Config, at most 4 s old. Rejects if the node does not answer. */
  readChanges(): Promise<FoundChange[]>;
}

/** Falls back to the index, because an operator needs this page most when the node does not answer. */
export async function readAuthorities({ views, readConfig }: AdminDeps) {
  const config = await readConfig().catch(() => null);
  if (config) return { admin: config.admin.toBase58(), relayAuthorities: relayAuthoritiesOf(config).map(String) };
  const row = await views.selectFrom('chain.configs').select(['admin', 'relay_authorities']).executeTakeFirst();
  if (!row) return chainUnreadable();
  return { admin: row.admin, relayAuthorities: JSON.parse(row.relay_authorities) as string[] };
}

/** Throws ApiError 403 for every wallet but the admin's. */
export async function requireAdmin(deps: AdminDeps, wallet: string): Promise<void> {
  const { admin } = await readAuthorities(deps);
  if (wallet !== admin) throw new ApiError('not_admin', "This request needs a session of the marketplace's admin");
}

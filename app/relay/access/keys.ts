/**
 * API keys in the ledger: registered once their grant is on-chain, listed with their spending on the chain, and
 * revoked. A row has only the key's hash, and is useless without the live grant that its wallet signed.
 */
import bs58 from 'bs58';
import type { Logger } from 'pino';
import { keyIdOfHash } from '../../sdk/receipt/apiKey.ts';
import { DEFAULT_SCOPES, type KeyScope } from '../../sdk/wire/keyScopes.ts';
import type { KeySummary } from '../../sdk/wire/procedures.ts';
import { toTimeOfMs } from '../../sdk/wire/time.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { LAMPORTS_PER_SIGNATURE } from '../chain/networkFee.ts';
import { ApiError } from '../errors.ts';
import {
  dropKeys,
  insertKey,
  markRevoked,
  readKey,
  readKeysOf,
  readUnusedHashes,
  restrictKey,
} from '../ledger/apiKeys.ts';
import { countRevocation, type RevocationBudget } from '../ledger/revocations.ts';
import type { Databases } from '../ledger/tables.ts';
import { invalid, invalidField } from '../parse.ts';
import type { Now } from '../waiting.ts';
import { type GrantReader, isGrantLive, type KeyUse } from './auth.ts';

export interface KeysDeps extends Databases, Now {
  config: {
    /** Maximum cost of revoking on-chain. */
    revocations: RevocationBudget;
  };
  accounts: GrantReader & {
    /** Revokes with the relay authority and waits for the confirmation; returns the signature. */
    revokeGrant(wallet: string, keyId: string): Promise<string>;
  };
  keyUse: Pick<KeyUse, 'flush'>;
  log: Logger;
}

/**
 * A key id is public on-chain, so anyone may register hashes that begin with it. They are useless without the key, but
 * they fill rows. A grant keeps at most this many; unused ones are evicted.
 */
const MAX_HASHES_PER_GRANT = 8;

/** The message for a wallet when the budget for revocations is used up. */
const NOT_PAID_FOR =
  'This service refuses the key from now on. The grant on-chain is not revoked, because the daily budget for revocations is used up. The wallet can revoke it itself.';

/** The column's value for a key whose wallet has not changed its scopes. */
const UNCHANGED_SCOPES = DEFAULT_SCOPES.join(' ');

/** Restrictions by the wallet beyond its grant; an undefined field stays unchanged. */
interface Restrictions {
  scopes?: KeyScope[] | undefined;
  expires_at?: string | null | undefined;
  allowed_ips?: string[] | null | undefined;
  allowed_agents?: string[] | null | undefined;
}

/**
 * Accepts the key of this hash if and only if the wallet's grant for it is live on-chain. A repeat changes nothing.
 * Throws ApiError 400 without such a grant, 401 for restrictions without that wallet's session.
 */
export async function registerKey(
  deps: KeysDeps,
  session: string | null,
  input: { wallet: string; key_hash: string; name: string } & Restrictions,
): Promise<{ key_id: string; name: string }> {
  const restrictions = toColumns(input);
  if (Object.keys(restrictions).length > 0 && session !== input.wallet) {
    throw new ApiError('unauthorized', "To restrict a key, sign in with the key's wallet and send the session's token");
  }
  const keyId = keyIdOfHash(input.key_hash);
  if (bs58.decodeUnsafe(input.wallet)?.length !== 32) {
    throw invalidField('wallet', 'must be a base58 address of 32 bytes', input.wallet);
  }
  const known = await readKey(deps.ledger, input.key_hash);
  const belongs = known === undefined || (known.wallet === input.wallet && known.revoked_ms === null);
  if (!belongs || !(await isGrantLive(deps, input.wallet, keyId))) {
    const message = `The wallet ${input.wallet} has no valid grant on-chain for this key. Create the grant, then register the key again.`;
    throw invalid(message, { in: 'body', path: 'key_hash', expected: 'must have a valid grant', got: 'none' });
  }
  if (known) return { key_id: keyId, name: known.name };
  await makeRoom(deps, input.wallet, keyId);
  await insertKey(deps.ledger, {
    key_hash: input.key_hash,
    key_id: keyId,
    wallet: input.wallet,
    name: input.name,
    created_ms: BigInt(deps.now()),
    last_used_ms: null,
    revoked_ms: null,
    expires_ms: null,
    allowed_ips: null,
    allowed_agents: null,
    ...restrictions,
  });
  return { key_id: keyId, name: input.name };
}

/**
 * Changes a key's restrictions from its next request on: expiry, scopes, addresses, agents. Throws ApiError 404 if the
 * wallet has no such key.
 */
export async function updateKey(
  deps: KeysDeps,
  wallet: string,
  { key_id: keyId, ...input }: { key_id: string } & Restrictions,
): Promise<KeySummary> {
  const restrictions = toColumns(input);
  if (Object.keys(restrictions).length > 0) await restrictKey(deps.ledger, { wallet, keyId }, restrictions);
  const { keys } = await listKeys(deps, wallet);
  const key = keys.find((one) => one.key_id === keyId);
  if (!key) throw new ApiError('not_found', 'This wallet has no such key');
  return key;
}

/** The columns of the given restrictions. */
function toColumns({ scopes, expires_at: expiresAt, ...lists }: Restrictions) {
  const { allowed_ips: ips, allowed_agents: agents } = lists;
  return {
    ...(scopes && { scopes: scopes.join(' ') }),
    ...(expiresAt !== undefined && { expires_ms: expiresAt === null ? null : BigInt(Date.parse(expiresAt)) }),
    ...(ips !== undefined && { allowed_ips: ips?.join(',') ?? null }),
    ...(agents !== undefined && { allowed_agents: agents?.join(',') ?? null }),
  };
}

/** The wallet's keys, newest first, with their grants' data from the index. */
export async function listKeys(deps: KeysDeps, wallet: string): Promise<{ keys: KeySummary[] }> {
  await deps.keyUse.flush();
  const rows = await readKeysOf(deps.views, wallet);
  return {
    keys: rows.map((row) => ({
      key_id: row.key_id,
      name: row.name,
      created_at: toTimeOfMs(row.created_ms),
      last_used_at: row.last_used_ms === null ? null : toTimeOfMs(row.last_used_ms),
      expires_at: earlier(row.expires_at === null ? null : row.expires_at * 1000n, row.expires_ms),
      scopes: row.scopes.split(' ') as KeyScope[],
      allowed_ips: row.allowed_ips?.split(',') ?? null,
      allowed_agents: row.allowed_agents?.split(',') ?? null,
      execution_count: Number(row.execution_count ?? 0n),
      total_spent_usdc: toUsdc(BigInt(row.total_spent ?? '0')),
      revoked: row.revoked_ms !== null || row.revoked === 1n,
    })),
  };
}

/**
 * Ends a key of this wallet at once, then revokes its grant on-chain if the budget covers the fee. Making a key costs
 * about as much as revoking it. If the second step fails, the answer says so: the wallet can revoke without us. Throws
 * ApiError 404 if the wallet has neither key nor grant.
 */
export async function revokeKey(
  deps: KeysDeps,
  wallet: string,
  keyId: string,
): Promise<{ key_id: string; on_chain: { signature: string | null; error: string | null } }> {
  const isKnown = await markRevoked(deps.ledger, { wallet, keyId }, deps.now());
  try {
    const { grant } = await deps.accounts.readGrant(wallet, keyId);
    if (!grant && !isKnown) throw new ApiError('not_found', 'This wallet has no such key');
    if (!grant || grant.revoked) return { key_id: keyId, on_chain: { signature: null, error: null } };
    const taken = { wallet, fee: LAMPORTS_PER_SIGNATURE, nowMs: deps.now() };
    if (!(await countRevocation(deps.ledger, taken, deps.config.revocations))) {
      return { key_id: keyId, on_chain: { signature: null, error: NOT_PAID_FOR } };
    }
    const signature = await deps.accounts.revokeGrant(wallet, keyId);
    return { key_id: keyId, on_chain: { signature, error: null } };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    deps.log.warn({ wallet, key_id: keyId, error }, 'cannot revoke a grant on-chain');
    const advice =
      'This service refuses the key from now on. Revoking the grant on-chain failed; the wallet can revoke it itself.';
    return { key_id: keyId, on_chain: { signature: null, error: advice } };
  }
}

async function makeRoom(deps: KeysDeps, wallet: string, keyId: string): Promise<void> {
  await deps.keyUse.flush();
  const unused = await readUnusedHashes(deps.ledger, { wallet, keyId, scopes: UNCHANGED_SCOPES });
  const dropped = unused.slice(MAX_HASHES_PER_GRANT - 1);
  if (dropped.length > 0) await dropKeys(deps.ledger, dropped);
}

/** The earlier of two times in unix milliseconds; null means never. */
export function earlier(one: bigint | null, other: bigint | null): string | null {
  if (one === null || other === null)
    return one === null && other === null ? null : toTimeOfMs((one ?? other) as bigint);
  return toTimeOfMs(one < other ? one : other);
}

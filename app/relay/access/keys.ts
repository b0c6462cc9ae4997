/**
 * API keys in the ledger: registered once their grant is on-chain, listed with what the chain says they spent, revoked.
 * A row is only a name for a hash: without the live grant, which its wallet signed, it opens nothing.
 */
import bs58 from 'bs58';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { keyIdOfHash } from '../../sdk/receipt/apiKey.ts';
import { KEY_SCOPES, type KeyScope } from '../../sdk/wire/keyScopes.ts';
import type { KeySummary } from '../../sdk/wire/procedures.ts';
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
import type { LedgerDatabase, LedgerTables } from '../ledger/tables.ts';
import { type GrantReader, isGrantLive, type KeyUse } from './auth.ts';

export interface KeysDeps {
  config: {
    /** What is paid at most for revoking on-chain. */
    revocations: RevocationBudget;
  };
  accounts: GrantReader & {
    /** Revokes by the relay authority and waits for the confirmation; returns the signature. */
    revokeGrant(wallet: string, keyId: string): Promise<string>;
  };
  /** ledger.db for writing. */
  ledger: Kysely<LedgerTables>;
  /** ledger.db for reading, with index.db attached as `chain`. */
  views: Kysely<LedgerDatabase>;
  keyUse: Pick<KeyUse, 'flush'>;
  /** Unix milliseconds. */
  now(): number;
  log: Logger;
}

/**
 * A key id is public on-chain, so anyone may register hashes that begin with it: useless without the key, but rows. So
 * many are kept for one grant; those that were never used make room.
 */
const MAX_HASHES_PER_GRANT = 8;

/** What the wallet is told where the marketplace pays for no more revocations. */
const NOT_PAID_FOR =
  'The marketplace pays for no more revocations on-chain today; the key is refused here, and the wallet can revoke the grant';

/** What a key without restrictions may do. */
const ALL_SCOPES = KEY_SCOPES.join(' ');

/** What the wallet asked for beyond its grant; what is undefined stays as it is. */
interface Restrictions {
  scopes?: KeyScope[] | undefined;
  expires_at?: string | null | undefined;
  allowed_ips?: string[] | null | undefined;
}

/**
 * Accepts the key of this hash iff the wallet's grant for it is live on-chain. Repeating it changes nothing. Throws
 * ApiError 400 without such a grant, 401 where restrictions are named without that wallet's session.
 */
export async function registerKey(
  deps: KeysDeps,
  session: string | null,
  input: { wallet: string; key_hash: string; name: string } & Restrictions,
): Promise<{ key_id: string; name: string }> {
  const restrictions = toColumns(input);
  if (Object.keys(restrictions).length > 0 && session !== input.wallet) {
    throw new ApiError('unauthorized', "Restrictions of a key need the token of its wallet's session");
  }
  const keyId = keyIdOfHash(input.key_hash);
  if (bs58.decodeUnsafe(input.wallet)?.length !== 32) {
    throw new ApiError('invalid_request', 'The field "wallet" must be a base58 address of 32 bytes');
  }
  const known = await readKey(deps.ledger, input.key_hash);
  const belongs = known === undefined || (known.wallet === input.wallet && known.revoked_ms === null);
  if (!belongs || !(await isGrantLive(deps, input.wallet, keyId))) {
    throw new ApiError('invalid_request', `The wallet ${input.wallet} has no live grant on-chain for this key`);
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
    ...restrictions,
  });
  return { key_id: keyId, name: input.name };
}

/**
 * Changes what a key may do, from its next request on: the end of its life here, scopes, addresses. Throws ApiError 404
 * where the wallet has no such key.
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

/** The columns of those restrictions that are named. */
function toColumns({ scopes, expires_at: expiresAt, allowed_ips: allowedIps }: Restrictions) {
  return {
    ...(scopes && { scopes: scopes.join(' ') }),
    ...(expiresAt !== undefined && { expires_ms: expiresAt === null ? null : BigInt(Date.parse(expiresAt)) }),
    ...(allowedIps !== undefined && { allowed_ips: allowedIps === null ? null : allowedIps.join(',') }),
  };
}

/** The wallet's keys, newest first, with what the chain says of their grants. */
export async function listKeys(deps: KeysDeps, wallet: string): Promise<{ keys: KeySummary[] }> {
  await deps.keyUse.flush();
  const rows = await readKeysOf(deps.views, wallet);
  return {
    keys: rows.map((row) => ({
      key_id: row.key_id,
      name: row.name,
      created_at: toTime(row.created_ms),
      last_used_at: row.last_used_ms === null ? null : toTime(row.last_used_ms),
      expires_at: earlier(row.expires_at === null ? null : row.expires_at * 1000n, row.expires_ms),
      scopes: row.scopes.split(' ') as KeyScope[],
      allowed_ips: row.allowed_ips === null ? null : row.allowed_ips.split(','),
      execution_count: Number(row.execution_count ?? 0n),
      total_spent_usdc: toUsdc(BigInt(row.total_spent ?? '0')),
      revoked: row.revoked_ms !== null || row.revoked === 1n,
    })),
  };
}

/**
 * Ends a key of this wallet at once, then revokes its grant on-chain as well, as far as there is a budget for its fee: keys
 * cost whoever makes them about as much. That second step may fail, which is reported: the wallet can revoke without us.
 * Throws ApiError 404 where the wallet has neither key nor grant.
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
    deps.log.warn({ wallet, key_id: keyId, error: String(error) }, 'a grant could not be revoked on-chain');
    const advice =
      'The grant could not be revoked on-chain; the key is refused here, and the wallet can revoke the grant';
    return { key_id: keyId, on_chain: { signature: null, error: advice } };
  }
}

async function makeRoom(deps: KeysDeps, wallet: string, keyId: string): Promise<void> {
  await deps.keyUse.flush();
  const unused = await readUnusedHashes(deps.ledger, { wallet, keyId, scopes: ALL_SCOPES });
  const dropped = unused.slice(MAX_HASHES_PER_GRANT - 1);
  if (dropped.length > 0) await dropKeys(deps.ledger, dropped);
}

function earlier(one: bigint | null, other: bigint | null): string | null {
  if (one === null || other === null) return one === null && other === null ? null : toTime((one ?? other) as bigint);
  return toTime(one < other ? one : other);
}

function toTime(milliseconds: bigint): string {
  return new Date(Number(milliseconds)).toISOString();
}

/**
 * Bearer key -> Principal. A key is good if its row is not revoked and the grant that its wallet signed on-chain is
 * live; both are read for every request, so that a revocation counts from the next one on.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { type Environment, hashApiKey, keyPrefix, parseApiKey } from '../sdk/apiKey.ts';
import type { Principal, RelayDeps } from './deps.ts';
import { ApiError } from './errors.ts';
import type { LedgerTables } from './store.ts';

type AuthDeps = Pick<RelayDeps, 'config' | 'views' | 'accounts' | 'keyUse' | 'now'>;

/** How often uses are written down: a page that lists keys may be this much behind after a crash. */
const FLUSH_MS = 1_000;

/** One text for every key that is not good: it must not tell whether the key ever was. */
const INVALID = 'The API key is not valid';

/**
 * The principal of an Authorization header. Throws ApiError: 401 `unauthorized` or `wrong_environment`, 503 where only
 * the chain could tell and does not answer.
 */
export async function authenticate(deps: AuthDeps, authorization: string | undefined): Promise<Principal> {
  const key = readBearer(authorization);
  if (key === null) throw new ApiError('unauthorized', 'Send the header Authorization: Bearer <API key>');
  requireEnvironment(key, deps.config.environment);
  if (!parseApiKey(key)) throw new ApiError('unauthorized', INVALID);
  const keyHash = hashApiKey(key);
  const row = await deps.views
    .selectFrom('api_keys')
    .leftJoin('chain.grants as grants', (join) =>
      join.onRef('grants.wallet', '=', 'api_keys.wallet').onRef('grants.key_id', '=', 'api_keys.key_id'),
    )
    .select(['api_keys.key_hash', 'api_keys.key_id', 'api_keys.wallet', 'api_keys.revoked_ms'])
    .select(['grants.revoked', 'grants.expires_at'])
    .where('api_keys.key_hash', '=', keyHash)
    .executeTakeFirst();
  if (!row || !isSame(row.key_hash, keyHash) || row.revoked_ms !== null) throw new ApiError('unauthorized', INVALID);
  const live =
    row.expires_at === null
      ? await isGrantLive(deps, row.wallet, row.key_id)
      : row.revoked === 0n && row.expires_at > BigInt(Math.floor(deps.now() / 1000));
  if (!live) throw new ApiError('unauthorized', INVALID);
  deps.keyUse.touch(keyHash, deps.now());
  return { wallet: row.wallet, keyId: row.key_id, keyHash };
}

/** The token of `Authorization: Bearer <token>`; null for anything else. */
export function readBearer(authorization: string | undefined): string | null {
  return /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

/** Whether the grant account itself is live now. Throws ApiError 503 where the node does not answer. */
export async function isGrantLive(deps: Pick<RelayDeps, 'accounts'>, wallet: string, keyId: string): Promise<boolean> {
  try {
    const { grant, now } = await deps.accounts.readGrant(wallet, keyId);
    return grant !== null && !grant.revoked && now < grant.expiresAt;
  } catch {
    throw new ApiError('service_unavailable', 'The chain cannot be read just now', { retryAfterSeconds: 5 });
  }
}

function requireEnvironment(key: string, environment: Environment): void {
  const other: Environment = environment === 'live' ? 'test' : 'live';
  if (!key.startsWith(keyPrefix(other))) return;
  throw new ApiError(
    'wrong_environment',
    `This is the ${environment} environment: use a key that begins with ${keyPrefix(environment)}, not ${keyPrefix(other)}`,
  );
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** When keys were last used, collected off the hot path. */
export interface KeyUse {
  touch(keyHash: string, nowMs: number): void;
  /** Writes down what was collected. */
  flush(): Promise<void>;
  /** Flushes and stops. */
  close(): Promise<void>;
}

export function createKeyUse(ledger: Kysely<LedgerTables>, log: Logger): KeyUse {
  let used = new Map<string, number>();

  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const batch = used;
    used = new Map();
    await ledger.transaction().execute(async (transaction) => {
      for (const [keyHash, usedMs] of batch) {
        await transaction
          .updateTable('api_keys')
          .set({ last_used_ms: BigInt(usedMs) })
          .where('key_hash', '=', keyHash)
          .execute();
      }
    });
  }

  const timer = setInterval(() => {
    flush().catch((error: unknown) => log.warn({ error: String(error) }, 'last use of keys could not be written'));
  }, FLUSH_MS);
  timer.unref();

  return {
    touch: (keyHash, nowMs) => void used.set(keyHash, nowMs),
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

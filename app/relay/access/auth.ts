/**
 * Maps a bearer key to its Principal. A key is valid if its row is not revoked and its wallet's grant on-chain is live.
 * One statement reads both for every request, never from memory. A revocation therefore takes effect with the next
 * request, in every process on the same ledger. If the wallet revoked the grant without us, it takes effect as soon as
 * the index has it. Calls that spend see it at once, because they read the account itself.
 */
import type { IncomingMessage } from 'node:http';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { KeyGrant } from '../../sdk/program/program.ts';
import { type Environment, hashApiKey, keyPrefix, parseApiKey } from '../../sdk/receipt/apiKey.ts';
import type { KeyScope } from '../../sdk/wire/keyScopes.ts';
import { ApiError, chainUnreadable, INVALID_KEY } from '../errors.ts';
import type { Principal } from '../execution/contract.ts';
import { type KeyRow, writeKeyUse } from '../ledger/apiKeys.ts';
import type { LedgerTables } from '../ledger/tables.ts';
import { type Now, runEvery } from '../waiting.ts';
import { readBearer } from './bearer.ts';
import { clientAddress, isWithin } from './clientAddress.ts';
import { type CookieDeps, cookieOf, requireOwnOrigin, useSession } from './cookie.ts';

/** Decides from our own databases alone if a token is a valid key. */
export interface KeyLookup extends Now {
  /** A key's current row by its SHA-256 in hex. */
  findKey(keyHash: string): Promise<KeyRow | undefined>;
}

export interface GrantReader {
  /**
   * The account, and the chain's clock in unix seconds at that moment. Rejects if the node does not answer. `holder` is
   * the wallet, if a registered key of it asks.
   */
  readGrant(wallet: string, keyId: string, holder?: string): Promise<{ grant: KeyGrant | null; now: bigint }>;
}

export interface AuthDeps extends KeyLookup {
  config: {
    environment: Environment;
    /** Number of trusted proxies that append to X-Forwarded-For. */
    trustProxy: number;
  };
  accounts: GrantReader;
  keyUse: Pick<KeyUse, 'touch'>;
}

export type WalletDeps = AuthDeps & CookieDeps;

/** Write interval of key uses: after a crash, a list of keys may be this much behind. */
const FLUSH_MS = 1_000;

/**
 * The principal of a request's Authorization header, if its key has this `scope`; null accepts any. Throws ApiError: 401
 * `unauthorized` or `wrong_environment`, 403 `address_not_allowed` or `insufficient_scope`. Throws 503 if only the chain
 * could decide and does not answer.
 */
export async function authenticate(
  deps: AuthDeps,
  request: IncomingMessage,
  scope: KeyScope | null,
): Promise<Principal> {
  const key = readBearer(request.headers.authorization);
  if (key === null)
    throw new ApiError(
      'unauthorized',
      'The API key is missing or malformed. Send the header Authorization: Bearer <API key>.',
    );
  requireEnvironment(key, deps.config.environment);
  const row = await findRow(deps, key);
  if (!row) throw new ApiError('unauthorized', INVALID_KEY);
  const live = isGrantLiveByIndex(deps, row) ?? (await isGrantLive(deps, row.wallet, row.key_id, row.wallet));
  if (!live) throw new ApiError('unauthorized', INVALID_KEY);
  requireAddress(deps, request, row);
  if (scope !== null && !row.scopes.split(' ').includes(scope)) {
    throw new ApiError('insufficient_scope', `This API key does not have the scope "${scope}"`, {
      details: { needs: scope, has: row.scopes.split(' ') as KeyScope[] },
    });
  }
  deps.keyUse.touch(row.key_hash, deps.now());
  const allowedAgents = row.allowed_agents?.split(',') ?? null;
  return { wallet: row.wallet, keyId: row.key_id, keyHash: row.key_hash, allowedAgents };
}

/** The row of a valid API key by our own databases; null for any other token. */
export async function findValidKey(deps: KeyLookup, token: string): Promise<KeyRow | null> {
  const row = await findRow(deps, token);
  return row !== null && isGrantLiveByIndex(deps, row) !== false ? row : null;
}

/** The row of a key that was registered here and is neither revoked nor expired. */
async function findRow(deps: KeyLookup, key: string): Promise<KeyRow | null> {
  if (!parseApiKey(key)) return null;
  const keyHash = hashApiKey(key);
  const row = await deps.findKey(keyHash);
  if (!row || row.revoked_ms !== null) return null;
  return row.expires_ms === null || row.expires_ms > BigInt(deps.now()) ? row : null;
}

/** Null if the index does not know the grant yet. */
function isGrantLiveByIndex(deps: KeyLookup, row: KeyRow): boolean | null {
  if (row.grant_expires_at === null) return null;
  return row.grant_revoked === 0n && row.grant_expires_at > BigInt(deps.now()) / 1_000n;
}

/**
 * The wallet that a request acts for: by a session, as token or cookie, or by a key with this `scope`. A wallet that
 * opens escrows itself needs no key. Throws ApiError like `authenticate`, and 403 `foreign_origin` for a change with a
 * cookie that does not come from our own page.
 */
export async function authenticateWallet(
  deps: WalletDeps,
  request: IncomingMessage,
  scope: KeyScope,
): Promise<{ wallet: string }> {
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  if (!isReading && cookieOf(deps, request) !== null) requireOwnOrigin(deps, request);
  const session = await useSession(deps, request);
  return session ? { wallet: session.wallet } : authenticate(deps, request, scope);
}

/** The error shows the address that we see, because the list must contain that one. */
function requireAddress(deps: AuthDeps, request: IncomingMessage, row: KeyRow): void {
  if (row.allowed_ips === null) return;
  const address = clientAddress(request, deps.config.trustProxy);
  if (isWithin(address, row.allowed_ips.split(','))) return;
  throw new ApiError('address_not_allowed', `This API key may not be used from the IP address ${address}`, {
    details: { address },
  });
}

/** True if the grant account itself is live now. Throws ApiError 503 if the node does not answer. */
export async function isGrantLive(
  deps: { accounts: GrantReader },
  wallet: string,
  keyId: string,
  holder?: string,
): Promise<boolean> {
  const { grant, now } = await deps.accounts.readGrant(wallet, keyId, holder).catch(chainUnreadable);
  return grant !== null && !grant.revoked && now < grant.expiresAt;
}

function requireEnvironment(key: string, environment: Environment): void {
  const other: Environment = environment === 'live' ? 'test' : 'live';
  if (!key.startsWith(keyPrefix(other))) return;
  throw new ApiError(
    'wrong_environment',
    `This is the ${environment} environment. Use a key that begins with ${keyPrefix(environment)}, not ${keyPrefix(other)}.`,
  );
}

export type KeyUse = ReturnType<typeof createKeyUse>;

/** Collects the last uses of keys off the hot path. */
export function createKeyUse(ledger: Kysely<LedgerTables>, log: Logger) {
  let used = new Map<string, number>();

  /** Writes the collected uses. */
  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const batch = used;
    used = new Map();
    await writeKeyUse(ledger, batch);
  }

  const stop = runEvery(FLUSH_MS, flush, (error) => log.warn({ error }, 'cannot store when API keys were last used'));

  return {
    touch: (keyHash: string, nowMs: number): void => void used.set(keyHash, nowMs),
    flush,
    /** Flushes and stops. */
    async close(): Promise<void> {
      await stop();
      await flush();
    },
  };
}

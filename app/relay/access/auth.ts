/**
 * Bearer key -> Principal. A key is good if its row is not revoked and the grant that its wallet signed on-chain is
 * live; both are read for every request, by one statement and never from memory, so that a revocation counts from the
 * next request on, in every process on the same ledger. A grant that the wallet revoked without us is seen here as soon
 * as the index has it, and by every call that spends at once, because that reads the account itself.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { KeyGrant } from '../../sdk/program/program.ts';
import { type Environment, hashApiKey, keyPrefix, parseApiKey } from '../../sdk/receipt/apiKey.ts';
import type { KeyScope } from '../../sdk/wire/keyScopes.ts';
import { ApiError, chainUnreadable } from '../errors.ts';
import type { Principal } from '../execution/contract.ts';
import { type KeyRow, writeKeyUse } from '../ledger/apiKeys.ts';
import type { LedgerTables } from '../ledger/tables.ts';
import { readBearer } from './bearer.ts';
import { clientAddress, isWithin } from './clientAddress.ts';
import { type CookieDeps, useSession } from './cookie.ts';

/** What tells whether a token is a good key by our own files alone. */
export interface KeyLookup {
  /** A key's row by its SHA-256 in hex, as it is now. */
  findKey(keyHash: string): Promise<KeyRow | undefined>;
  /** Unix milliseconds. */
  now(): number;
}

export interface GrantReader {
  /** The account, and the chain's clock in unix seconds at that moment. Rejects where the node does not answer. */
  readGrant(wallet: string, keyId: string): Promise<{ grant: KeyGrant | null; now: bigint }>;
}

export interface AuthDeps extends KeyLookup {
  config: {
    environment: Environment;
    /** Proxies in front whose X-Forwarded-For is believed. */
    trustProxy: number;
  };
  accounts: GrantReader;
  keyUse: Pick<KeyUse, 'touch'>;
}

export type ReaderDeps = AuthDeps & CookieDeps;

/** How often uses are written down: a page that lists keys may be this much behind after a crash. */
const FLUSH_MS = 1_000;

/** One text for every key that is not good: it must not tell whether the key ever was. */
const INVALID = 'The API key is not valid';

/**
 * The principal of a request's Authorization header, if its key may do what `scope` names. Throws ApiError: 401
 * `unauthorized` or `wrong_environment`, 403 `address_not_allowed` or `insufficient_scope`, 503 where only the chain
 * could tell and does not answer.
 */
export async function authenticate(deps: AuthDeps, request: IncomingMessage, scope: KeyScope): Promise<Principal> {
  const key = readBearer(request.headers.authorization);
  if (key === null) throw new ApiError('unauthorized', 'Send the header Authorization: Bearer <API key>');
  requireEnvironment(key, deps.config.environment);
  const row = await findRow(deps, key);
  if (!row) throw new ApiError('unauthorized', INVALID);
  const live = isGrantLiveByIndex(deps, row) ?? (await isGrantLive(deps, row.wallet, row.key_id));
  if (!live) throw new ApiError('unauthorized', INVALID);
  requireAddress(deps, request, row);
  if (!row.scopes.split(' ').includes(scope)) {
    throw new ApiError('insufficient_scope', `This API key does not have the scope "${scope}"`, {
      details: { needs: scope, has: row.scopes.split(' ') as KeyScope[] },
    });
  }
  deps.keyUse.touch(row.key_hash, deps.now());
  return { wallet: row.wallet, keyId: row.key_id, keyHash: row.key_hash };
}

/** Whether the token is an API key that is good as far as our own files tell. */
export async function isRegistered(deps: KeyLookup, token: string): Promise<boolean> {
  const row = await findRow(deps, token);
  return row !== null && isGrantLiveByIndex(deps, row) !== false;
}

/** The row of a key that was registered here and has neither been revoked nor expired. */
async function findRow(deps: KeyLookup, key: string): Promise<KeyRow | null> {
  if (!parseApiKey(key)) return null;
  const keyHash = hashApiKey(key);
  const row = await deps.findKey(keyHash);
  if (!row || !isSame(row.key_hash, keyHash) || row.revoked_ms !== null) return null;
  return row.expires_ms === null || row.expires_ms > BigInt(deps.now()) ? row : null;
}

/** Null where the index does not know the grant yet. */
function isGrantLiveByIndex(deps: KeyLookup, row: KeyRow): boolean | null {
  if (row.grant_expires_at === null) return null;
  return row.grant_revoked === 0n && row.grant_expires_at > BigInt(deps.now()) / 1_000n;
}

/**
 * The wallet whose executions a request may read: by a key with the scope `read`, or by the session that the wallet's
 * signature opened, as token or cookie, because who opens escrows itself need have no key. Throws ApiError as
 * `authenticate` does.
 */
export async function authenticateReader(deps: ReaderDeps, request: IncomingMessage): Promise<{ wallet: string }> {
  const session = await useSession(deps, request);
  return session ? { wallet: session.wallet } : authenticate(deps, request, 'read');
}

/** Its owner is told the address that we see: that is what the list must hold. */
function requireAddress(deps: AuthDeps, request: IncomingMessage, row: KeyRow): void {
  if (row.allowed_ips === null) return;
  const address = clientAddress(request, deps.config.trustProxy);
  if (isWithin(address, row.allowed_ips.split(','))) return;
  throw new ApiError('address_not_allowed', `This API key may not be used from the address ${address}`, {
    details: { address },
  });
}

/** Whether the grant account itself is live now. Throws ApiError 503 where the node does not answer. */
export async function isGrantLive(deps: { accounts: GrantReader }, wallet: string, keyId: string): Promise<boolean> {
  const { grant, now } = await deps.accounts.readGrant(wallet, keyId).catch(chainUnreadable);
  return grant !== null && !grant.revoked && now < grant.expiresAt;
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
    await writeKeyUse(ledger, batch);
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

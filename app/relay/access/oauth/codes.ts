/**
 * The authorization code flow of OAuth 2.1 for MCP hosts. The access token is an API key: the person's wallet has granted
 * it on-chain, and the page gives it here for the host. It waits for the host encrypted by the code, so that the ledger
 * never has a usable key. A code works once, for the client, redirect URI, PKCE challenge and resource of its request.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { OAuthError, OAuthErrorCode, type OAuthTokens } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { least } from '../../../sdk/wire/amounts.ts';
import { digestOf } from '../../digest.ts';
import { chainUnreadable } from '../../errors.ts';
import { putCode, takeCode } from '../../ledger/authorizationCodes.ts';
import type { Databases } from '../../ledger/tables.ts';
import { invalid, parse, readQuery } from '../../parse.ts';
import { findValidKey, type GrantReader, type KeyLookup } from '../auth.ts';
import { isLoopback } from '../cookie.ts';
import { findClient, hasRedirectUri } from './clients.ts';

export interface OAuthDeps extends KeyLookup, Pick<Databases, 'ledger'> {
  accounts: GrantReader;
}

/** The resource for which keys are given, and the way to it. */
export const MCP_PATH = '/mcp';
/** A host exchanges its code at once. A person who must copy it by hand needs longer. */
const CODE_MS = 5 * 60_000;
const CODE_BYTES = 32;
const CIPHER = 'aes-256-gcm';
/** A code encrypts one key, so its nonce need not differ. */
const NONCE = Buffer.alloc(12);
const TAG_BYTES = 16;

/** Other parameters are ignored, as OAuth asks. */
const AuthorizationRequest = z.object({
  client_id: z.string(),
  redirect_uri: z.string(),
  response_type: z.literal('code', 'must be code'),
  code_challenge: z.string().regex(/^[\w-]{43}$/, 'must be a SHA-256 as 43 base64url characters'),
  code_challenge_method: z.literal('S256', 'must be S256'),
  resource: z.string().optional(),
  state: z.string().optional(),
});

/** Who asks, for the page. Throws ApiError 400: nobody is sent to an address that is not checked. */
export function describeRequest(origin: string, query: string) {
  const asked = readRequest(origin, query);
  const { host, hostname } = new URL(asked.redirectUri);
  return {
    name: asked.name,
    redirect_host: host,
    is_loopback: isLoopback(hostname),
    refused_url: returnUrl(origin, asked, { error: 'access_denied' }),
  };
}

/** The URL that returns to the host with a code for this key of the wallet. */
export async function approveRequest(
  deps: OAuthDeps,
  origin: string,
  wallet: string,
  { query, api_key: apiKey }: { query: string; api_key: string },
): Promise<string> {
  const asked = readRequest(origin, query);
  const key = await findValidKey(deps, apiKey);
  const { grant, now } =
    key?.wallet === wallet
      ? await deps.accounts.readGrant(wallet, key.key_id, wallet).catch(chainUnreadable)
      : { grant: null, now: 0n };
  if (!key || !grant || grant.revoked || grant.expiresAt <= now) {
    const expected = "must be a valid key of the session's wallet";
    throw invalid(`The field "api_key" ${expected}`, { in: 'body', path: 'api_key', expected, got: 'another' });
  }
  const code = randomBytes(CODE_BYTES);
  const grantEndsMs = grant.expiresAt * 1_000n;
  await putCode(
    deps.ledger,
    {
      key_hash: key.key_hash,
      digest: digestOf(code.toString('base64url')),
      sealed_key: seal(code, apiKey),
      binding: asked.binding,
      key_expires_ms: least(grantEndsMs, key.expires_ms ?? grantEndsMs),
      expires_ms: BigInt(deps.now() + CODE_MS),
    },
    deps.now(),
  );
  return returnUrl(origin, asked, { code: code.toString('base64url') });
}

/** The API key of a code, as an access token. Throws OAuthError. A complete request uses the code up, whatever follows. */
export async function exchangeCode(
  deps: OAuthDeps,
  origin: string,
  form: Record<string, string>,
): Promise<OAuthTokens> {
  const need = (name: string): string => {
    const value = form[name];
    if (value) return value;
    throw new OAuthError(OAuthErrorCode.InvalidRequest, `The field "${name}" is missing`);
  };
  if (need('grant_type') !== 'authorization_code') {
    throw new OAuthError(OAuthErrorCode.UnsupportedGrantType, 'grant_type must be authorization_code');
  }
  const [code, clientId, redirectUri, verifier] = [
    need('code'),
    need('client_id'),
    need('redirect_uri'),
    need('code_verifier'),
  ];
  if (!findClient(clientId)) throw new OAuthError(OAuthErrorCode.InvalidClient, 'Register the client first');
  const resource = readResource(origin, form.resource);
  const row = await takeCode(deps.ledger, digestOf(code));
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const isOwn = resource !== null && row?.binding === bindingOf(clientId, redirectUri, challenge, resource);
  if (!row || !isOwn || row.expires_ms <= BigInt(deps.now())) {
    throw new OAuthError(
      OAuthErrorCode.InvalidGrant,
      'The code is unknown, used or expired, or belongs to another client, redirect URI, verifier or resource',
    );
  }
  const apiKey = unseal(Buffer.from(code, 'base64url'), row.sealed_key);
  const key = await findValidKey(deps, apiKey);
  if (!key) throw new OAuthError(OAuthErrorCode.InvalidGrant, 'The API key was revoked or has expired');
  return {
    access_token: apiKey,
    token_type: 'Bearer',
    expires_in: Math.floor((Number(row.key_expires_ms) - deps.now()) / 1_000),
    scope: key.scopes,
  };
}

function readRequest(origin: string, query: string) {
  // A parameter without a value counts as absent.
  const given = Object.entries(readQuery(`?${query}`)).filter(([, value]) => value !== '');
  const asked = parse(AuthorizationRequest, Object.fromEntries(given), 'query');
  const client = findClient(asked.client_id);
  const refuse = (path: string, expected: string): never => {
    throw invalid(`The query parameter "${path}" ${expected}`, { in: 'query', path, expected, got: 'another' });
  };
  if (!client) return refuse('client_id', 'must be the id of a registered client');
  if (!hasRedirectUri(client, asked.redirect_uri)) {
    return refuse('redirect_uri', 'must be one that the client has registered');
  }
  const resource = readResource(origin, asked.resource);
  if (resource === null) return refuse('resource', `must be ${origin}${MCP_PATH}`);
  return {
    name: client.name,
    redirectUri: asked.redirect_uri,
    state: asked.state,
    binding: bindingOf(client.id, asked.redirect_uri, asked.code_challenge, resource),
  };
}

/** The only resource, also for hosts that name none, and with settings in its query; null for any other. */
function readResource(origin: string, resource: string | undefined): string | null {
  const own = origin + MCP_PATH;
  if (!resource) return own;
  if (!URL.canParse(resource) || resource.includes('#')) return null;
  const { origin: host, pathname } = new URL(resource);
  return host + pathname === own ? own : null;
}

const bindingOf = (...parts: [client: string, redirectUri: string, challenge: string, resource: string]): string =>
  digestOf(JSON.stringify(parts));

/** The redirect URI with these parameters. Its own query stays as it is. */
function returnUrl(
  origin: string,
  { redirectUri, state }: ReturnType<typeof readRequest>,
  answer: Record<string, string>,
): string {
  const parameters = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: origin });
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${parameters}`;
}

function seal(code: Buffer, apiKey: string): Buffer {
  const cipher = createCipheriv(CIPHER, code, NONCE);
  return Buffer.concat([cipher.update(apiKey, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function unseal(code: Buffer, sealed: Buffer): string {
  const decipher = createDecipheriv(CIPHER, code, NONCE, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8');
}

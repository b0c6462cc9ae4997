/**
 * OAuth clients: MCP hosts that ask for an API key. A client id is the whole registration, encoded: the host's name and
 * its redirect URIs. So registering, which is open to everybody, stores nothing, and a registration never expires. A
 * client id that somebody writes by hand is worth no more than a registered one: each use checks the same rules.
 */
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { UNSEEN } from '../../../sdk/wire/unseen.ts';
import { isLoopback } from '../cookie.ts';

interface Client {
  id: string;
  /** What the host calls itself; null if it gave no name. */
  name: string | null;
  redirectUris: string[];
}

const MAX_NAME = 40;
const MAX_URIS = 10;
const MAX_URI = 500;
/** So that the address of the person's page stays within every proxy's limit of 8 KiB. */
const MAX_ID = 4_000;

/** The fields that matter here. Hosts send more, and Python's send null. */
const Registration = z.object({
  client_name: z.string().nullish(),
  redirect_uris: z.array(z.string()).min(1).max(50),
});
const Encoded = z.tuple([z.string().nullable(), z.array(z.string()).min(1).max(MAX_URIS)]);

/**
 * The client of this registration request (RFC 7591). Redirect URIs that nobody may use are left out, because some hosts
 * register one with a private scheme beside others. Throws OAuthError if none remains.
 */
export function registerClient(body: unknown): Client {
  const { success, data } = Registration.safeParse(body);
  if (!success) {
    throw new OAuthError(OAuthErrorCode.InvalidClientMetadata, 'redirect_uris must be a list of 1 to 50 texts');
  }
  const redirectUris = data.redirect_uris.filter(isAllowed).slice(0, MAX_URIS);
  if (redirectUris.length === 0) {
    throw new OAuthError(
      OAuthErrorCode.InvalidRedirectUri,
      `A redirect URI must use https, or http with localhost or a loopback address, without a fragment or a password, and have at most ${MAX_URI} characters`,
    );
  }
  const name = cleanName(data.client_name ?? '');
  const id = encode(name, redirectUris);
  if (id.length <= MAX_ID) return { id, name, redirectUris };
  throw new OAuthError(OAuthErrorCode.InvalidClientMetadata, 'The redirect URIs are too long together');
}

/** The client of this id; null unless registering could have returned the id. */
export function findClient(id: string): Client | null {
  if (id.length > MAX_ID) return null;
  const { data } = Encoded.safeParse(decode(id));
  if (!data) return null;
  const [name, redirectUris] = data;
  const isRegistrable = encode(name, redirectUris) === id && redirectUris.every(isAllowed);
  return isRegistrable && (name === null || name === cleanName(name)) ? { id, name, redirectUris } : null;
}

/**
 * True if the client registered exactly this redirect URI. A program on this computer may listen at any port (RFC 8252,
 * section 7.3).
 */
export function hasRedirectUri({ redirectUris }: Client, uri: string): boolean {
  return redirectUris.includes(uri) || (isAllowed(uri) && redirectUris.some((one) => isSameLoopback(one, uri)));
}

/** Without a key, a code could be read from http, and a private scheme belongs to any program that claims it. */
function isAllowed(uri: string): boolean {
  if (uri.length > MAX_URI || !/^[!-~]+$/.test(uri) || uri.includes('#') || !URL.canParse(uri)) return false;
  const { protocol, hostname, username, password } = new URL(uri);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

function isSameLoopback(one: string, other: string): boolean {
  const [registered, asked] = [new URL(one), new URL(other)];
  if (registered.protocol !== 'http:' || asked.protocol !== 'http:') return false;
  registered.port = '';
  asked.port = '';
  return registered.href === asked.href;
}

/** One short line, without characters that hide or reorder text. Null if nothing remains. */
function cleanName(text: string): string | null {
  const line = text
    .replace(/\s+/g, ' ')
    .replaceAll(UNSEEN, '')
    .replace(/\p{Surrogate}/gu, '')
    .trim();
  return [...line].slice(0, MAX_NAME).join('').trim() || null;
}

const encode = (name: string | null, uris: string[]) => Buffer.from(JSON.stringify([name, uris])).toString('base64url');

function decode(id: string): unknown {
  try {
    return JSON.parse(Buffer.from(id, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

/** Procedures of a wallet's sessions and API keys. */
import * as z from 'zod';
import { Address, Count, Hash, type ProcedureEntry, Signature, Time, Usdc } from './fields.ts';
import { KEY_SCOPES } from './keyScopes.ts';

const KeyId = z.string().regex(/^[0-9a-f]{32}$/, 'must be 32 lower-case hex digits');

const NAME_RULE = 'must be 1 to 64 characters on one line';
const EXPIRY_RULE = 'must be an ISO 8601 time from 1970 to 9999, such as 2027-01-31T12:00:00Z';
const IP_RULE = 'must be an IP address or a block such as 203.0.113.0/24';

const KeyScopes = z
  .array(z.enum(KEY_SCOPES, { error: `must be one of ${KEY_SCOPES.join(', ')}` }))
  .min(1, 'must name at least one scope')
  .max(KEY_SCOPES.length)
  .transform((scopes) => KEY_SCOPES.filter((scope) => scopes.includes(scope)));
/** An offset can move a time out of the years that ISO 8601 writes with four digits. */
const Expiry = z.iso
  .datetime({ offset: true, error: EXPIRY_RULE })
  .refine((text) => Date.parse(text) >= 0 && Date.parse(text) < Date.UTC(10_000), EXPIRY_RULE);
const IpBlock = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], { error: IP_RULE });

/**
 * Restrictions that the service enforces, in addition to the on-chain limits of the grant. Null removes a restriction.
 * An absent field stays unchanged; a new key has DEFAULT_SCOPES and no restriction.
 */
const restrictions = {
  scopes: KeyScopes.optional(),
  /** The service refuses the key from then on, although its grant may last longer. */
  expires_at: Expiry.nullable().optional(),
  /** The key is accepted only from these addresses and CIDR blocks. */
  allowed_ips: z.array(IpBlock).min(1, 'must name at least one address').max(32).nullable().optional(),
  /** The key may call only these agents. The chain does not know of this. */
  allowed_agents: z.array(Address).min(1, 'must name at least one agent').max(32).nullable().optional(),
};

export const KeySummary = z.strictObject({
  key_id: z.string(),
  name: z.string(),
  created_at: Time,
  last_used_at: Time.nullable(),
  /** When the service stops accepting the key: the earlier of the grant's end and the key's own end. */
  expires_at: Time.nullable(),
  scopes: z.array(z.enum(KEY_SCOPES)),
  /** Null if any address is allowed. */
  allowed_ips: z.array(z.string()).nullable(),
  /** Null if any agent is allowed. */
  allowed_agents: z.array(z.string()).nullable(),
  execution_count: Count,
  total_spent_usdc: Usdc,
  revoked: z.boolean(),
});
export type KeySummary = z.infer<typeof KeySummary>;

/**
 * The input of the wallet feature `solana:signIn`. Every field is given, so that the wallet shows and signs exactly the
 * challenge's `message`.
 */
export const SignInInput = z.strictObject({
  domain: z.string(),
  address: z.string(),
  statement: z.string(),
  uri: z.url(),
  version: z.literal('1'),
  chainId: z.enum(['mainnet', 'devnet', 'localnet']),
  nonce: z.string().regex(/^[0-9a-zA-Z]{8,}$/),
  issuedAt: Time,
  expirationTime: Time,
});
export type SignInInput = z.infer<typeof SignInInput>;

/**
 * A challenge's message, and the wallet's base58 Ed25519 signature over its UTF-8 bytes, or over Solana's off-chain
 * envelope around them, version 0 or 1.
 */
const SignedChallenge = z.strictObject({
  wallet: Address,
  message: z.string().max(1000),
  signature: Signature,
  /** The signed bytes, base64. Needed only for an envelope that names an application. */
  signed_message: z.base64().max(2_000).optional(),
});

/** The query of an authorization request (OAuth 2.1), exactly as the browser got it. */
const AuthorizationQuery = z.string().max(8_000, 'must be at most 8000 characters');

export const accessProcedures = {
  /** The message that a wallet signs to authenticate, as fields and as text. It names this deployment, and expires. */
  'auth.challenge': {
    kind: 'mutation',
    access: 'public',
    input: z.strictObject({ wallet: Address }),
    output: z.strictObject({ message: z.string(), sign_in: SignInInput, expires_at: Time }),
  },
  /** For programs. The token is valid for 15 minutes. */
  'auth.verify': {
    kind: 'mutation',
    access: 'public',
    input: SignedChallenge,
    output: z.strictObject({ token: z.string(), expires_at: Time }),
  },
  /**
   * For pages of the service's own origin: the session is a cookie that scripts cannot read. It ends 15 minutes after
   * its last use, and at most 12 hours after its start.
   */
  'auth.signIn': {
    kind: 'mutation',
    access: 'public',
    input: SignedChallenge,
    output: z.strictObject({ wallet: z.string(), is_admin: z.boolean(), expires_at: Time }),
  },
  /** The wallet of the request's session; null without a valid session. */
  'auth.session': {
    kind: 'query',
    access: 'public',
    input: z.void(),
    output: z.strictObject({
      wallet: z.string().nullable(),
      is_admin: z.boolean(),
      expires_at: Time.nullable(),
      /** The token account that pays for the wallet's calls; null while the chain cannot be read. */
      usdc_account: z.string().nullable(),
      /** True if the wallet has ever listed an agent. */
      has_listings: z.boolean(),
    }),
  },
  /** Ends the session of the token in `Authorization`, else the cookie's. Without a session it changes nothing. */
  'auth.signOut': {
    kind: 'mutation',
    access: 'public',
    input: z.void(),
    output: z.strictObject({ signed_out: z.boolean() }),
  },
  /**
   * The live grant on-chain is the proof, so no session is needed. Restrictions need one: otherwise anyone who knows a
   * key could choose them. Repeating it changes nothing.
   */
  'keys.register': {
    kind: 'mutation',
    access: 'public',
    input: z.strictObject({
      wallet: Address,
      key_hash: Hash,
      name: z
        .string()
        .min(1, NAME_RULE)
        .max(64, NAME_RULE)
        .regex(/^[^\p{Cc}\p{Surrogate}]*$/u, NAME_RULE),
      ...restrictions,
    }),
    output: z.strictObject({ key_id: z.string(), name: z.string() }),
  },
  'keys.list': {
    kind: 'query',
    access: 'session',
    input: z.void(),
    output: z.strictObject({ keys: z.array(KeySummary) }),
  },
  /** Changes a key's restrictions, from its next request on. */
  'keys.update': {
    kind: 'mutation',
    access: 'session',
    input: z.strictObject({ key_id: KeyId, ...restrictions }),
    output: KeySummary,
  },
  /**
   * Ends the key with this call, and tries to revoke its grant on-chain; `on_chain` reports if that succeeded. `error`
   * is for people: the chain did not answer, or the operator pays for no more revocations today. The wallet can then
   * revoke with its own transaction.
   */
  'keys.revoke': {
    kind: 'mutation',
    access: 'session',
    input: z.strictObject({ key_id: KeyId }),
    output: z.strictObject({
      key_id: z.string(),
      on_chain: z.strictObject({ signature: z.string().nullable(), error: z.string().nullable() }),
    }),
  },
  /** Reads a host's request for an API key. The page shows it to the person before anything is signed. */
  'oauth.request': {
    kind: 'query',
    access: 'public',
    input: z.strictObject({ query: AuthorizationQuery }),
    output: z.strictObject({
      /** What the host calls itself, which nobody checks; null if it gives no name. */
      name: z.string().nullable(),
      /** The host, with its port if it names one, that receives the key. */
      redirect_host: z.string(),
      /** True if `redirect_host` is this computer. */
      is_loopback: z.boolean(),
      /** Returns to the host without a key. */
      refused_url: z.string(),
    }),
  },
  /**
   * Gives the host of this request a registered API key of the session's wallet: the answer is the URL that returns to
   * the host, with a code for which the host gets the key once, within five minutes. Meanwhile the key is stored
   * encrypted by that code. A repetition replaces the code.
   */
  'oauth.approve': {
    kind: 'mutation',
    access: 'session',
    input: z.strictObject({ query: AuthorizationQuery, api_key: z.string().max(200) }),
    output: z.strictObject({ approved_url: z.string() }),
  },
} as const satisfies Record<string, ProcedureEntry>;

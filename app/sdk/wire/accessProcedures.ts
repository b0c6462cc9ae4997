/** Procedures of a wallet's sessions and API keys. */
import { z } from 'zod';
import { Address, Count, Hash, type ProcedureEntry, Signature, Time, Usdc } from './fields.ts';
import { KEY_SCOPES } from './keyScopes.ts';

const KeyId = z.string().regex(/^[0-9a-f]{32}$/, 'must be 32 lower-case hex digits');

const NAME_RULE = 'must be 1 to 64 characters on one line';
const IP_RULE = 'must be an IP address or a block such as 203.0.113.0/24';

const KeyScopes = z
  .array(z.enum(KEY_SCOPES, { error: `must be one of ${KEY_SCOPES.join(', ')}` }))
  .min(1, 'must name at least one scope')
  .max(KEY_SCOPES.length)
  .transform((scopes) => KEY_SCOPES.filter((scope) => scopes.includes(scope)));
const IpBlock = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], { error: IP_RULE });

/**
 * What a key's wallet may ask of the service on top of the grant, which the chain enforces. Null takes a restriction
 * away; what is not named stays as it is, for a new key both scopes and nothing else.
 */
const restrictions = {
  scopes: KeyScopes.optional(),
  /** From then on the service refuses the key, though its grant may live longer. */
  expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
  /** The key is accepted only from these addresses and CIDR blocks. */
  allowed_ips: z.array(IpBlock).min(1, 'must name at least one address').max(32).nullable().optional(),
};

export const KeySummary = z.strictObject({
  key_id: z.string(),
  name: z.string(),
  created_at: Time,
  last_used_at: Time.nullable(),
  /** When it ends at the service: the earlier of the grant's end and its own. */
  expires_at: Time.nullable(),
  scopes: z.array(z.enum(KEY_SCOPES)),
  /** Null: from any address. */
  allowed_ips: z.array(z.string()).nullable(),
  execution_count: Count,
  total_spent_usdc: Usdc,
  revoked: z.boolean(),
});
export type KeySummary = z.infer<typeof KeySummary>;

/**
 * The input of the wallet feature `solana:signIn`, every field named, so that what a wallet shows and signs is the
 * challenge's `message` to the letter.
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

/** A challenge's message with the wallet's base58 Ed25519 over its UTF-8 bytes. */
const SignedChallenge = z.strictObject({ wallet: Address, message: z.string().max(1000), signature: Signature });

export const accessProcedures = {
  /** What a wallet signs to prove itself, as fields and as text; it names this deployment, and expires. */
  'auth.challenge': {
    kind: 'mutation',
    access: 'public',
    input: z.strictObject({ wallet: Address }),
    output: z.strictObject({ message: z.string(), sign_in: SignInInput, expires_at: Time }),
  },
  /** For programs. The token lasts 15 minutes. */
  'auth.verify': {
    kind: 'mutation',
    access: 'public',
    input: SignedChallenge,
    output: z.strictObject({ token: z.string(), expires_at: Time }),
  },
  /**
   * For pages of the service's own origin: the session is a cookie that no script can read. It ends 15 minutes after its
   * last use, and 12 hours after it began.
   */
  'auth.signIn': {
    kind: 'mutation',
    access: 'public',
    input: SignedChallenge,
    output: z.strictObject({ wallet: z.string(), is_admin: z.boolean(), expires_at: Time }),
  },
  /** Whose session the request carries; null where none that is good. */
  'auth.session': {
    kind: 'query',
    access: 'public',
    input: z.void(),
    output: z.strictObject({ wallet: z.string().nullable(), is_admin: z.boolean(), expires_at: Time.nullable() }),
  },
  /** Ends the cookie's session; without one it changes nothing. */
  'auth.signOut': {
    kind: 'mutation',
    access: 'public',
    input: z.void(),
    output: z.strictObject({ signed_out: z.boolean() }),
  },
  /**
   * The live grant on-chain is the proof, so no session is needed, except for restrictions: whoever knows a key could
   * otherwise choose them. Repeating it changes nothing.
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
  /** Changes what a key may do, from its next request on. */
  'keys.update': {
    kind: 'mutation',
    access: 'session',
    input: z.strictObject({ key_id: KeyId, ...restrictions }),
    output: KeySummary,
  },
  /**
   * The key ends with this call; the grant on-chain is revoked too, and `on_chain` says whether that was possible. Its
   * `error` is for people: the chain did not answer, or the operator pays for no more revocations today. The wallet can
   * then revoke by a transaction of its own.
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
} as const satisfies Record<string, ProcedureEntry>;

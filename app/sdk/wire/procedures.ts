/**
 * The contract of /trpc, which the CLI and the dashboard share: management of keys and listings. The relay builds its
 * router over these schemas and the typed client in client.ts reads answers with them.
 */
import { z } from 'zod';
import { KEY_SCOPES } from './keyScopes.ts';

const Address = z
  .string('must be a base58 address')
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be a base58 address of 32 bytes');
const Hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 as 64 lower-case hex digits');
const KeyId = z.string().regex(/^[0-9a-f]{32}$/, 'must be 32 lower-case hex digits');
const Time = z.iso.datetime();
const Usdc = z.number().min(0);

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

/** What a client must know of this deployment. Amounts in USDC. */
export const MarketplaceConfig = z.strictObject({
  environment: z.enum(['live', 'test']),
  program_id: z.string(),
  usdc_mint: z.string(),
  relay_authorities: z.array(z.string()),
  /** The token account that collects fees. */
  treasury: z.string(),
  /** A JSON-RPC URL that clients may use. */
  rpc_url: z.string(),
  /** What follows an explorer's /address/... or /tx/... path: empty on mainnet, else `?cluster=...`. */
  explorer_query: z.string(),
  /** Addresses from which creators' servers are called; empty where that is not fixed. */
  egress_ips: z.array(z.string()),
  fee_bps: z.int(),
  min_price_usdc: Usdc,
  max_timeout_seconds: z.int(),
  dispute_window_seconds: z.int(),
  /** Ascending; the first whose max_price_usdc is not below a price sets its deposit. */
  collateral_tiers: z.array(z.strictObject({ max_price_usdc: Usdc, deposit_usdc: Usdc })),
});
export type MarketplaceConfig = z.infer<typeof MarketplaceConfig>;

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
  execution_count: z.int().min(0),
  total_spent_usdc: Usdc,
  revoked: z.boolean(),
});
export type KeySummary = z.infer<typeof KeySummary>;

/** One finding of the Test Execution tool, in the order in which they are made. */
export const ListingCheck = z.strictObject({
  name: z.enum(['metadata', 'reachable', 'json', 'execution_id', 'status', 'result_hash', 'signature']),
  ok: z.boolean(),
  detail: z.string(),
  duration_ms: z.int().min(0),
});
export type ListingCheck = z.infer<typeof ListingCheck>;

/** Every procedure: `mutation` is sent as POST, `session` needs the token of `auth.verify`. */
export const PROCEDURES = {
  'config.get': { kind: 'query', session: false, input: z.void(), output: MarketplaceConfig },
  /** A message for the wallet to sign; it names this deployment and expires. */
  'auth.challenge': {
    kind: 'mutation',
    session: false,
    input: z.strictObject({ wallet: Address }),
    output: z.strictObject({ message: z.string(), expires_at: Time }),
  },
  /** `signature`: base58 Ed25519 over the message's UTF-8 bytes. The token lasts 15 minutes. */
  'auth.verify': {
    kind: 'mutation',
    session: false,
    input: z.strictObject({
      wallet: Address,
      message: z.string().max(1000),
      signature: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'must be a base58 signature of 64 bytes'),
    }),
    output: z.strictObject({ token: z.string(), expires_at: Time }),
  },
  /**
   * The live grant on-chain is the proof, so no session is needed, except for restrictions: whoever knows a key could
   * otherwise choose them. Repeating it changes nothing.
   */
  'keys.register': {
    kind: 'mutation',
    session: false,
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
    session: true,
    input: z.void(),
    output: z.strictObject({ keys: z.array(KeySummary) }),
  },
  /** Changes what a key may do, from its next request on. */
  'keys.update': {
    kind: 'mutation',
    session: true,
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
    session: true,
    input: z.strictObject({ key_id: KeyId }),
    output: z.strictObject({
      key_id: z.string(),
      on_chain: z.strictObject({ signature: z.string().nullable(), error: z.string().nullable() }),
    }),
  },
  /**
   * Sends one synthetic execution to the endpoint of a metadata document; no transaction, no money. Only for the creator
   * of a listing that carries the document, and for the wallet whose session posted it for a listing that is not made
   * yet: for everybody else the check `metadata` fails, as for a document that is not there. At most 10 tests of one
   * endpoint and 30 of one wallet in 10 minutes; beyond, `rate_limited` with `Retry-After`.
   */
  'listings.test': {
    kind: 'mutation',
    session: true,
    input: z.strictObject({
      metadata_hash: Hash,
      signing_key: Address,
      task: z.string().min(1).max(10_000).default('test'),
      parameters: z.record(z.string(), z.unknown()).default({}),
      /** How long to wait, up to `max_timeout_seconds`: the listing's own timeout, or 30 where it is not made yet. */
      timeout_seconds: z.int().min(1).optional(),
    }),
    output: z.strictObject({ ok: z.boolean(), checks: z.array(ListingCheck) }),
  },
} as const satisfies Record<
  string,
  { kind: 'query' | 'mutation'; session: boolean; input: z.ZodType; output: z.ZodType }
>;

export type ProcedureName = keyof typeof PROCEDURES;
export type ProcedureInput<Name extends ProcedureName> = z.input<(typeof PROCEDURES)[Name]['input']>;
export type ProcedureOutput<Name extends ProcedureName> = z.output<(typeof PROCEDURES)[Name]['output']>;

/** Procedures about the deployment: its public configuration, and its state for the operator. */
import * as z from 'zod';
import { Count, Lamports, type ProcedureEntry, page, Time, Usdc } from './fields.ts';
import { STANDARD_TAGS } from './metadata.ts';
import { PROBLEMS } from './wire.ts';

const Tier = z.strictObject({ max_price_usdc: Usdc, deposit_usdc: Usdc });

/** The configuration that clients need. Amounts in USDC. */
export const MarketplaceConfig = z.strictObject({
  environment: z.enum(['live', 'test']),
  /** URL where users contact the operator: https or mailto; null if the operator gives none. */
  operator_contact: z.string().nullable(),
  program_id: z.string(),
  usdc_mint: z.string(),
  /** Base58 hash of the chain's first block, which identifies the cluster. */
  genesis_hash: z.string(),
  /** The wallet that resolves disputes and verifies creators. */
  admin: z.string(),
  relay_authorities: z.array(z.string()),
  /** The token account that collects fees. */
  treasury: z.string(),
  /** A JSON-RPC URL that clients may use. */
  rpc_url: z.string(),
  /** Suffix of an explorer's /address/... or /tx/... URL: empty on mainnet, else `?cluster=...`. */
  explorer_query: z.string(),
  /** Addresses that calls to creators' servers come from; empty if they are not fixed. */
  egress_ips: z.array(z.string()),
  fee_bps: z.int(),
  min_price_usdc: Usdc,
  /** The prices that an agent's executions of one dispute window can reach, in multiples of its collateral; 0: no limit. */
  exposure_multiple: z.int(),
  max_timeout_seconds: z.int(),
  dispute_window_seconds: z.int(),
  /** Time after an execution's timeout until anyone can refund it. */
  refund_grace_seconds: z.int(),
  /** Time from a settled execution's end until its record can be archived. */
  record_seconds: z.int(),
  /** Time from a delisting until its collateral can return, if no dispute is open then. Only grows. */
  longest_span_seconds: z.int(),
  /** Lamports that opening a dispute holds back until its outcome. */
  dispute_bond_lamports: Lamports,
  /** Ascending. A price takes its deposit from the first tier whose max_price_usdc is not below it. */
  collateral_tiers: z.array(Tier),
  /** In the order of the bits of a listing's tag_mask. */
  standard_tags: z.array(z.enum(STANDARD_TAGS)),
  /** Service fee of a call by an x402 client, on top of its price; null if this service takes no such payments. */
  x402_service_fee_usdc: Usdc.nullable(),
  /** True if the operator pays the network fees of calls whose gas balance does not. */
  is_sponsored: z.boolean(),
});
export type MarketplaceConfig = z.infer<typeof MarketplaceConfig>;

/** Lists have only text items, because client generators cannot tell several kinds apart. A tier is `price:deposit`. */
const SettingValue = z.union([z.number(), z.boolean(), z.string(), z.array(z.string()), z.null()]);

/** One setting of a pending change. For `guardian`, null means nobody. */
export const ChangedSetting = z.strictObject({
  setting: z.enum([
    'guardian_pause',
    'fee',
    'min_price',
    'dispute_bond',
    'dispute_window',
    'refund_grace',
    'max_timeout',
    'record_time',
    'exposure_multiple',
    'admin_delay',
    'collateral_tiers',
    'relay_authorities',
    'guardian',
    'admin',
  ]),
  unit: z.enum(['basis_points', 'usdc', 'lamports', 'seconds', 'times_collateral', 'address']).nullable(),
  before: SettingValue,
  after: SettingValue,
});
export type ChangedSetting = z.infer<typeof ChangedSetting>;

/** Pending changes of the settings, which everybody can see before they apply. */
export const PendingChanges = z.strictObject({
  /** The wallet that can cancel changes, pause the marketplace and remove relay authorities; null if there is none. */
  guardian: z.string().nullable(),
  /** How long a change that widens power waits; 0 for no delay. A change of guardian waits 7 days longer. */
  admin_delay_seconds: Count,
  /** The first applicable one first. */
  changes: z.array(
    z.strictObject({
      /** Address of the change's account. */
      change: z.string(),
      change_id: z.string(),
      subject: z
        .enum(['settings', 'admin', 'guardian'])
        .describe(
          'What it changes: settings, the admin or the guardian. A change of admin is applied by the next admin alone. It decides who can cancel the change.',
        ),
      status: z
        .enum(['waiting', 'applicable', 'expired', 'cancelled'])
        .describe(
          'By the chain’s clock. An expired change, or one cancelled together with others, can never be applied; anyone can close its account.',
        ),
      settings: z.array(ChangedSetting),
      proposed_at: Time,
      /** Time from which anybody can apply it, or the next admin accept it. */
      applicable_at: Time,
      /** Remaining time by the chain's clock; 0 if that time has come. */
      applicable_in_seconds: Count,
      expires_at: Time.describe('The time from which the change can only be cancelled: 7 days after `applicable_at`.'),
    }),
  ),
});
export type PendingChanges = z.infer<typeof PendingChanges>;

/** Ended executions: numbers, the prices of the paid ones, and the marketplace's fees of these. */
const Ended = { paid: Count, refunded: Count, paid_usdc: Usdc, fees_usdc: Usdc };

/** The state of this process and its ledger, for the operator. Null if not known yet. */
export const OperationState = z.strictObject({
  /** As in /ready. */
  problems: z.array(z.enum(PROBLEMS)),
  authorities: z.array(z.strictObject({ address: z.string(), lamports: Lamports.nullable(), is_ours: z.boolean() })),
  /** Each node that this process uses, and its state. `slot` is set only if there are several. */
  nodes: z.array(
    z.strictObject({ name: z.string(), state: z.enum(['up', 'dead', 'behind', 'wrong']), slot: Count.nullable() }),
  ),
  /** How long the fee payer's balance lasts at the present rate; null while nothing is spent. */
  runway_hours: z.number().min(0).nullable(),
  /** Mean network fees of one settled execution (open and settle) since this process started. */
  lamports_per_call: Lamports.nullable(),
  lamports: z.strictObject({
    /** Rent that the operator has lent, the most that it may lend at once, and the rest. */
    lent: Lamports,
    lent_limit: Lamports,
    free: Lamports,
    /** The part of `lent` in ended records, and the seconds until the first of it comes back; null if there is none. */
    due: Lamports,
    due_seconds: Count.nullable(),
    /** The part of `lent` in refunds that their callers cannot receive yet. */
    unclaimed: Lamports,
    /**
     * Rent in records of ended executions; the part that could be archived now; and the rent this process has returned.
     */
    locked: Lamports.nullable(),
    archivable: Lamports.nullable(),
    archived: Lamports.nullable(),
    /** Network fees of the last 24 hours that nobody has paid for. */
    burnt_today: Lamports,
  }),
  /** USDC in the program's escrows and collateral vaults, by the index. */
  held: z.strictObject({
    /** The prices of open executions. */
    escrow_usdc: Usdc,
    /** Payments of x402 clients that wait for their call, with their service fees, by the ledger. */
    deposits_usdc: Usdc,
    /** The collateral that creators still have. */
    collateral_usdc: Usdc,
    /** Taken by upheld disputes beyond their prices, and kept for other callers. */
    forfeited_usdc: Usdc,
    /** Awards and refunds whose callers had no account that could receive them. */
    owed_usdc: Usdc,
    unclaimed_usdc: Usdc,
  }),
  /** Listings that are not delisted, how many of them are tagged `sandbox`, and the newest 3 of the paused ones. */
  listings: z.strictObject({ active: Count, paused: Count, for_tests: Count, paused_agents: z.array(z.string()) }),
  executions_in_flight: Count,
  /**
   * Executions that ended in the last 7 days (UTC), today included; `for_tests` of them are of agents tagged `sandbox`.
   * `failed` counts against the other agents: refunded ones, and paid ones whose dispute was upheld. `failing` is the
   * number of these agents; at most 3 are named, the one with most failures first. `before`: in the 7 days before.
   */
  latest: z.strictObject({
    since: Time,
    ...Ended,
    before: z.strictObject(Ended),
    for_tests: Count,
    failed: Count,
    failing: Count,
    failing_agents: z.array(z.string()),
  }),
  oldest_unsettled: z.strictObject({ execution_id: z.string(), state: z.string(), age_seconds: Count }).nullable(),
  /**
   * Records that could be archived now; how long the oldest whose deposit the operator or a gas balance lent could have
   * been; and if that is too long.
   */
  archive_waiting: z.strictObject({ count: Count, oldest_seconds: Count, is_late: z.boolean() }).nullable(),
  /** Deliveries that are due and not in progress, and how long the oldest has been due. */
  webhooks_waiting: z.strictObject({ count: Count, oldest_seconds: Count }),
  indexer: z.strictObject({ slot: Count.nullable(), lag_ms: Count.nullable() }),
  /** When the ledger was compared with the chain, which this process does once, at its start; null until then. */
  reconciled_at: Time.nullable(),
  opens_paused: z.boolean(),
  open_disputes: Count,
  /** Those of them in which a side has not written, and still has the time to. */
  waiting_disputes: Count,
  /**
   * Payments of x402 clients: the payer of their network fees, its balance, the minimum balance for new quotes, and the
   * deposits that are neither opened nor returned. Null if this service takes no such payments.
   */
  x402: z
    .strictObject({
      fee_payer: z.string(),
      lamports: Lamports.nullable(),
      min_lamports: Lamports,
      open_deposits: Count,
    })
    .nullable(),
  uptime_seconds: Count,
});
export type OperationState = z.infer<typeof OperationState>;

/** What is held by the ledger and the index, beside what the chain holds. What is missing there was read three times. */
export const HeldComparison = z.strictObject({
  usdc: z.array(
    z.strictObject({
      /** `deposits`: payments of x402 clients that wait. `collateral`: all in the vaults, also forfeits and awards. */
      what: z.enum(['escrow', 'deposits', 'collateral', 'unclaimed']),
      known_usdc: Usdc,
      chain_usdc: Usdc,
    }),
  ),
  /** Rent that the operator has lent to opened calls. */
  rent: z.strictObject({ known: Lamports, chain: Lamports }),
  /** The gas balances of all wallets that have or had keys. Only the chain knows them. */
  gas_balances: z.strictObject({ lamports: Lamports, wallets: Count }),
});
export type HeldComparison = z.infer<typeof HeldComparison>;

/** The logged actions of the admin's sessions: sign-ins, decisions, and reads of private data. */
export const ADMIN_ACTIONS = [
  'auth.signIn',
  'auth.verify',
  'disputes.queue',
  'disputes.case',
  'disputes.evidence',
  'disputes.putReason',
] as const;
export type AdminActionName = (typeof ADMIN_ACTIONS)[number];

/** One action of the admin through this service. */
export const AdminAction = z.strictObject({
  action_id: z.string(),
  /** The admin's wallet. */
  wallet: z.string(),
  /** The procedure. */
  action: z.enum(ADMIN_ACTIONS),
  /** The execution's id. For a sign-in, the address that it came from. For a list, its filter. */
  subject: z.string(),
  begun_at: Time,
  /**
   * Null while the action runs, or if the service stopped during it; also `outcome`. Of a reading, its last repeat
   * within ten minutes.
   */
  ended_at: Time.nullable(),
  /** `done`, or the code of the error. */
  outcome: z.string().nullable(),
});
export type AdminAction = z.infer<typeof AdminAction>;

/** One transaction of the admin or the guardian. */
export const AdminEvent = z.strictObject({
  slot: Count,
  /** Null if the node no longer knows the slot's time. */
  at: Time.nullable(),
  signature: z.string(),
  event_index: Count,
  /** Name and fields as in the IDL: keys in base58, bytes in hex, 64-bit integers as text. */
  event: z.string(),
  data: z.record(z.string(), z.unknown()),
});
export type AdminEvent = z.infer<typeof AdminEvent>;

export const operationProcedures = {
  'config.get': { kind: 'query', access: 'public', input: z.void(), output: MarketplaceConfig },
  /** Read from the chain at most 4 seconds ago. */
  'config.changes': { kind: 'query', access: 'public', input: z.void(), output: PendingChanges },
  'operation.state': { kind: 'query', access: 'admin', input: z.void(), output: OperationState },
  /** Reads the chain each time. */
  'operation.held': { kind: 'query', access: 'admin', input: z.void(), output: HeldComparison },
  /** The admin's actions through this service, by their end, newest first. With `reads`: only reads, or all others. */
  'operation.actions': {
    kind: 'query',
    access: 'admin',
    input: z.strictObject({ reads: z.boolean().optional(), ...page }).prefault({}),
    output: z.strictObject({ actions: z.array(AdminAction), total: Count }),
  },
  /** The transactions of the admin and the guardian, from the index, newest first. */
  'operation.events': {
    kind: 'query',
    access: 'admin',
    input: z.strictObject(page).prefault({}),
    output: z.strictObject({ events: z.array(AdminEvent), total: Count }),
  },
} as const satisfies Record<string, ProcedureEntry>;

/** Procedures about the deployment: what a client must know of it, and what its operator must see. */
import { z } from 'zod';
import { Count, Lamports, type ProcedureEntry, Usdc } from './fields.ts';
import { STANDARD_TAGS } from './metadata.ts';
import { PROBLEMS } from './wire.ts';

/** What a client must know of this deployment. Amounts in USDC. */
export const MarketplaceConfig = z.strictObject({
  environment: z.enum(['live', 'test']),
  program_id: z.string(),
  usdc_mint: z.string(),
  /** The first block of the chain: tells clusters apart, as base58. */
  genesis_hash: z.string(),
  /** The wallet that resolves disputes and verifies creators. */
  admin: z.string(),
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
  /** What opening a dispute holds back until its outcome. */
  dispute_bond_lamports: Lamports,
  /** Ascending; the first whose max_price_usdc is not below a price sets its deposit. */
  collateral_tiers: z.array(z.strictObject({ max_price_usdc: Usdc, deposit_usdc: Usdc })),
  /** In the order of the bits of a listing's tag_mask. */
  standard_tags: z.array(z.enum(STANDARD_TAGS)),
});
export type MarketplaceConfig = z.infer<typeof MarketplaceConfig>;

/** What an operator must see of this process and its ledger. What cannot be known yet is null. */
export const OperationState = z.strictObject({
  /** As /ready has them. */
  problems: z.array(z.enum(PROBLEMS)),
  authorities: z.array(z.strictObject({ address: z.string(), lamports: Lamports.nullable(), is_ours: z.boolean() })),
  /** Each node that this process asks, and whether it is in use; `slot` only where there are several. */
  nodes: z.array(
    z.strictObject({ name: z.string(), state: z.enum(['up', 'dead', 'behind', 'wrong']), slot: Count.nullable() }),
  ),
  /** How long the fee payer's balance lasts at the present rate; null while nothing is spent. */
  runway_hours: z.number().min(0).nullable(),
  /** Network fees of one settled execution here, open and settle, in the mean since this process started. */
  lamports_per_call: Lamports.nullable(),
  lamports: z.strictObject({
    /** Rent that the operator has out. */
    lent: Lamports,
    /** Rent in the records of ended executions; of it what could be archived now; and what this process has returned. */
    locked: Lamports.nullable(),
    archivable: Lamports.nullable(),
    archived: Lamports.nullable(),
    /** Network fees within the last 24 hours that nobody has paid for. */
    burnt_today: Lamports,
  }),
  executions_in_flight: Count,
  oldest_unsettled: z.strictObject({ execution_id: z.string(), state: z.string(), age_seconds: Count }).nullable(),
  indexer: z.strictObject({ slot: Count.nullable(), lag_ms: Count.nullable() }),
  /** Whether the ledger has been compared with the chain since the start. */
  reconciled: z.boolean(),
  opens_paused: z.boolean(),
  open_disputes: Count,
  uptime_seconds: Count,
});
export type OperationState = z.infer<typeof OperationState>;

export const operationProcedures = {
  'config.get': { kind: 'query', access: 'public', input: z.void(), output: MarketplaceConfig },
  'operation.state': { kind: 'query', access: 'admin', input: z.void(), output: OperationState },
} as const satisfies Record<string, ProcedureEntry>;

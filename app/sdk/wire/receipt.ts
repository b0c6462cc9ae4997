/**
 * A receipt: one document that proves to anyone that an execution was requested, answered and paid.
 * `@agent-marketplace/sdk/receipt` checks it, by itself and against any Solana node.
 */
import * as z from 'zod';
import { ADDRESS } from './fields.ts';
import { isUsdc } from './usdc.ts';
import { ExecutionArchive } from './wire.ts';

const Address = z.string().regex(ADDRESS);
const Signature = z.string().regex(/^ed25519:[1-9A-HJ-NP-Za-km-z]{64,88}$/);
const TransactionId = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
/** The chain has whole seconds. */
const Time = z.iso.datetime();
const USDC_RULE = 'must be an amount of USDC, a number with at most 6 decimal places';

/** GET /v1/executions/{execution_id}/receipt. Exists for settled executions only. */
export const Receipt = z.strictObject({
  version: z.literal(1),
  program_id: Address,
  genesis_hash: Address,
  execution_id: z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  record: Address,
  agent_id: Address,
  caller: Address,
  signing_key: Address,
  request_hash: z.string().regex(/^[0-9a-f]{64}$/),
  /** The request: absent if the service does not know it, or if its caller deleted it. The holder may remove it. */
  task: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).optional(),
  /** Absent if its caller deleted it: then only its hash and signature can be checked. */
  result: z.string().optional(),
  result_hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  signature: Signature,
  execution_signature: Signature.nullable(),
  price_usdc: z.number().min(0).refine(isUsdc, USDC_RULE),
  fee_bps: z.int().min(0).max(10_000),
  opened_at: Time,
  settled_at: Time,
  /** Null if this service read the outcome from accounts, and so does not know the transaction. */
  transactions: z.strictObject({ open: TransactionId.nullable(), settle: TransactionId.nullable() }),
  /** Null if the record's account still existed. */
  archive: ExecutionArchive.nullable(),
});
export type Receipt = z.infer<typeof Receipt>;

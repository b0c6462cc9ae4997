/**
 * A receipt: all that shows to anyone that an execution was asked for, answered and paid, in one document that its holder
 * keeps. `@agent-marketplace/sdk/receipt` checks it, by itself and against any Solana node.
 */
import { z } from 'zod';
import { isUsdc } from './usdc.ts';
import { ExecutionArchive } from './wire.ts';

const Address = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
const Signature = z.string().regex(/^ed25519:[1-9A-HJ-NP-Za-km-z]{64,88}$/);
const TransactionId = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
/** The chain has whole seconds. */
const Time = z.iso.datetime();
const USDC_RULE = 'must be an amount of USDC, a number with at most 6 decimal places';

/** GET /v1/executions/{execution_id}/receipt. There is one of settled executions only. */
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
  /** What was asked: absent where the service does not know it, and its holder may leave it out. */
  task: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).optional(),
  result: z.string(),
  result_hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  signature: Signature,
  execution_signature: Signature.nullable(),
  price_usdc: z.number().min(0).refine(isUsdc, USDC_RULE),
  fee_bps: z.int().min(0).max(10_000),
  opened_at: Time,
  settled_at: Time,
  /** Null where this service read the outcome from accounts, and so does not know the transaction. */
  transactions: z.strictObject({ open: TransactionId.nullable(), settle: TransactionId.nullable() }),
  /** Null while the record's account was there. */
  archive: ExecutionArchive.nullable(),
});
export type Receipt = z.infer<typeof Receipt>;

/**
 * A receipt: one document that proves to anyone that an execution was requested, answered and paid.
 * `@agent-marketplace/sdk/receipt` checks it, by itself and against any Solana node.
 */
import * as z from 'zod';
import { ADDRESS, EXECUTION_ID } from './choices.ts';
import { Time } from './fields.ts';
import { isUsdc } from './usdc.ts';
import { ExecutionArchive } from './wire.ts';

const matching = (form: RegExp) => z.string().regex(form);
const Address = matching(ADDRESS);
const Hash = matching(/^[0-9a-f]{64}$/);
const Signature = matching(/^ed25519:[1-9A-HJ-NP-Za-km-z]{64,88}$/);
const TransactionId = matching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
const USDC_RULE = 'must be an amount of USDC, a number with at most 6 decimal places';

/** GET /v1/executions/{execution_id}/receipt. Exists for settled executions only. */
export const Receipt = z.strictObject({
  version: z.literal(1),
  program_id: Address,
  genesis_hash: Address,
  execution_id: matching(EXECUTION_ID),
  record: Address,
  agent_id: Address,
  caller: Address,
  signing_key: Address,
  request_hash: Hash,
  /** The request. Absent if the service does not know it or its caller deleted it. A holder may remove it. */
  task: z.string().optional(),
  parameters: z
    .looseObject({})
    .refine((value) => !Array.isArray(value), 'must be an object')
    .optional(),
  /** Absent if its caller deleted it. Then only its hash and signature can be checked. */
  result: z.string().optional(),
  result_hash: matching(/^sha256:[0-9a-f]{64}$/),
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

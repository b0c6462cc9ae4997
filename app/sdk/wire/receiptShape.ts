/**
 * The shapes of a receipt and of an archive's proof, by zod's small edition: whoever only checks receipts, such as a
 * page, loads 9 kB for them instead of all schemas. wire.ts and receipt.ts have the same shapes as usual schemas.
 */
import * as z from 'zod/mini';
import { ADDRESS } from './choices.ts';
import { isUsdc } from './usdc.ts';

const matching = (form: RegExp) => z.string().check(z.regex(form));
const Address = matching(ADDRESS);
const Count = z.int().check(z.minimum(0));
const Hash = matching(/^[0-9a-f]{64}$/);
const Signature = matching(/^ed25519:[1-9A-HJ-NP-Za-km-z]{64,88}$/);
const TransactionId = matching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
/** The chain has whole seconds. */
const Time = z.iso.datetime();
const USDC_RULE = 'must be an amount of USDC, a number with at most 6 decimal places';

export const ArchiveShape = z.strictObject({
  archive: z.string(),
  archive_index: Count,
  tree: z.string(),
  leaf_index: Count,
  record: z.string(),
  fields: matching(/^[A-Za-z0-9+/]+={0,2}$/),
  leaf: Hash,
  proof: z.array(Hash).check(z.length(20)),
  root: Hash,
  transaction: z.string(),
});

export const ReceiptShape = z.strictObject({
  version: z.literal(1),
  program_id: Address,
  genesis_hash: Address,
  execution_id: matching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  record: Address,
  agent_id: Address,
  caller: Address,
  signing_key: Address,
  request_hash: Hash,
  /** The request: absent if the service does not know it, or if its caller deleted it. The holder may remove it. */
  task: z.optional(z.string()),
  parameters: z.optional(z.looseObject({}).check(z.refine((value) => !Array.isArray(value), 'must be an object'))),
  /** Absent if its caller deleted it: then only its hash and signature can be checked. */
  result: z.optional(z.string()),
  result_hash: matching(/^sha256:[0-9a-f]{64}$/),
  signature: Signature,
  execution_signature: z.nullable(Signature),
  price_usdc: z.number().check(z.minimum(0), z.refine(isUsdc, USDC_RULE)),
  fee_bps: z.int().check(z.minimum(0), z.maximum(10_000)),
  opened_at: Time,
  settled_at: Time,
  /** Null if this service read the outcome from accounts, and so does not know the transaction. */
  transactions: z.strictObject({ open: z.nullable(TransactionId), settle: z.nullable(TransactionId) }),
  /** Null if the record's account still existed. */
  archive: z.nullable(ArchiveShape),
});
export type Receipt = z.infer<typeof ReceiptShape>;
export type ExecutionArchive = z.infer<typeof ArchiveShape>;

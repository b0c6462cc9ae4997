/**
 * The shape of a receipt for code that only checks receipts, such as a page. It uses valibot, which takes a third of
 * zod's bytes. `wire/receipt.ts` has the same shape as the schema with which the service writes receipts.
 */
import * as v from 'valibot';
import { ADDRESS } from '../wire/choices.ts';
import type { Receipt } from '../wire/receipt.ts';
import { isUsdc } from '../wire/usdc.ts';
import type { ExecutionArchive } from '../wire/wire.ts';

const matching = (form: RegExp) => v.pipe(v.string(), v.regex(form));
const Address = matching(ADDRESS);
const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Hash = matching(/^[0-9a-f]{64}$/);
const Signature = matching(/^ed25519:[1-9A-HJ-NP-Za-km-z]{64,88}$/);
const TransactionId = matching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
const Time = v.pipe(v.string(), v.check(isTime));
const USDC_RULE = 'must be an amount of USDC, a number with at most 6 decimal places';

const archive = {
  archive: v.string(),
  archive_index: Count,
  tree: v.string(),
  leaf_index: Count,
  record: v.string(),
  fields: matching(/^[A-Za-z0-9+/]+={0,2}$/),
  leaf: Hash,
  proof: v.pipe(v.array(Hash), v.length(20)),
  root: Hash,
  transaction: v.string(),
};
/** A proof that is not part of a receipt. It may have the fields of a newer marketplace. */
export const ArchiveShape: v.GenericSchema<unknown, ExecutionArchive> = v.object(archive);

export const ReceiptShape: v.GenericSchema<unknown, Receipt> = v.strictObject({
  version: v.literal(1),
  program_id: Address,
  genesis_hash: Address,
  execution_id: matching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  record: Address,
  agent_id: Address,
  caller: Address,
  signing_key: Address,
  request_hash: Hash,
  task: v.optional(v.string()),
  // The request's hash is over exactly this value, so it must not be copied.
  parameters: v.optional(v.custom<Record<string, unknown>>(isObject)),
  result: v.optional(v.string()),
  result_hash: matching(/^sha256:[0-9a-f]{64}$/),
  signature: Signature,
  execution_signature: v.nullable(Signature),
  price_usdc: v.pipe(v.number(), v.check(isUsdc, USDC_RULE)),
  fee_bps: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(10_000)),
  opened_at: Time,
  settled_at: Time,
  transactions: v.strictObject({ open: v.nullable(TransactionId), settle: v.nullable(TransactionId) }),
  archive: v.nullable(v.strictObject(archive)),
});

/** True for ISO 8601 in UTC, of a day that exists. Date reads 02-30 as a day of the next month. */
function isTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text)) return false;
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 19));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

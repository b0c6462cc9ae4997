/** The answers that prove leaves of archives: executions, and refunds that nobody has claimed. */
import * as z from 'zod';
import { Count, Hash, Time, Usdc } from './fields.ts';

/**
 * The proof of an archived execution: the bytes of its record's fields, and the sibling nodes on its leaf's path to the
 * root. GET /v1/executions/{execution_id}/archive, and part of the execution.
 */
export const ExecutionArchive = z.strictObject({
  archive: z.string(),
  archive_index: Count,
  tree: z.string(),
  leaf_index: Count,
  record: z.string(),
  fields: z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/),
  leaf: Hash,
  proof: z.array(Hash).length(20),
  root: Hash,
  transaction: z.string(),
});
export type ExecutionArchive = z.infer<typeof ExecutionArchive>;

/** A refund that its caller's account could not receive. `claimed_at` is null while its caller can still claim it. */
export const UnclaimedRefund = z.strictObject({
  /** The record or the deposit. */
  source: z.string(),
  amount_usdc: Usdc,
  unclaimed_at: Time,
  claimed_at: Time.nullable(),
});
export type UnclaimedRefund = z.infer<typeof UnclaimedRefund>;

/** The same with the proof of its leaf. `fields` are the leaf's bytes. */
export const UnclaimedProof = z.strictObject({
  ...UnclaimedRefund.shape,
  caller: z.string(),
  ...ExecutionArchive.omit({ record: true }).shape,
});
export type UnclaimedProof = z.infer<typeof UnclaimedProof>;

/** GET /v1/unclaimed/{source}: several only if a deposit's address was prepared again. */
export const UnclaimedProofs = z.strictObject({ refunds: z.array(UnclaimedProof) });
export type UnclaimedProofs = z.infer<typeof UnclaimedProofs>;

/**
 * A line of GET /v1/archives/{archive_index}/leaves: the data from which a leaf is computed. It is an execution's record
 * and fields, or the fields of an unclaimed refund.
 */
export const ArchiveLine = z.union([
  ExecutionArchive.pick({ leaf_index: true, record: true, fields: true }),
  z.strictObject({ leaf_index: Count, unclaimed: ExecutionArchive.shape.fields }),
]);
export type ArchiveLine = z.infer<typeof ArchiveLine>;

/** Lines of one answer of that route; a full page never changes. */
export const ARCHIVE_PAGE = 256;

/** What fields of the procedures are, each said once: ids, hashes, times, amounts, pages. */
import { z } from 'zod';

export const Address = z
  .string('must be a base58 address')
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be a base58 address of 32 bytes');
export const Hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 as 64 lower-case hex digits');
export const Signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'must be a base58 signature of 64 bytes');
export const ExecutionId = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be an execution_id, a UUID in lower case');
/** ISO 8601 in UTC. */
export const Time = z.iso.datetime();
/** Decimal, at most 6 places. */
export const Usdc = z.number().min(0);
export const Lamports = z.int().min(0);
export const Count = z.int().min(0);

/** Which part of a list is asked for. */
export const page = {
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).default(0),
};

/** What every procedure is: a `query` is sent as GET, a `mutation` as POST. */
export interface ProcedureEntry {
  kind: 'query' | 'mutation';
  /** Anybody; a wallet that has proved itself by a signature; the admin of the marketplace, by such a session. */
  access: 'public' | 'session' | 'admin';
  /** Of the body, where it is more than 32 KiB: only who may call the procedure can send so much. */
  maxBytes?: number;
  input: z.ZodType;
  output: z.ZodType;
}

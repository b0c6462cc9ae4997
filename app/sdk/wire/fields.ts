/** Shared field schemas of the procedures: ids, hashes, times, amounts, pages. */
import * as z from 'zod';
import { ADDRESS, EXECUTION_ID } from './choices.ts';

export { ADDRESS };

export const Address = z.string('must be a base58 address').regex(ADDRESS, 'must be a base58 address of 32 bytes');
export const Hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 as 64 lower-case hex digits');
export const Signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'must be a base58 signature of 64 bytes');
export const ExecutionId = z.string().regex(EXECUTION_ID, 'must be an execution_id, a UUID in lower case');
/** ISO 8601 in UTC. */
export const Time = z.iso.datetime();
/** Decimal, at most 6 places. */
export const Usdc = z.number().min(0);
export const Lamports = z.int().min(0);
export const Count = z.int().min(0);

/** Selects a part of a list. */
export const page = {
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).default(0),
};

/** One procedure. A `query` is sent as GET, a `mutation` as POST. */
export interface ProcedureEntry {
  kind: 'query' | 'mutation';
  /** `public`: anybody. `session`: a wallet that has signed in. `admin`: the marketplace's admin, signed in. */
  access: 'public' | 'session' | 'admin';
  /** Limit of the body, if over 32 KiB. Only callers with the right to call the procedure can send so much. */
  maxBytes?: number;
  input: z.ZodType;
  output: z.ZodType;
}

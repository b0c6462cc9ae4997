/** The texts that agents returned, at addresses that only their callers get. */
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import { isSameSecret } from '../digest.ts';
import { lostResult } from '../execution/standing.ts';
import { readStored } from '../ledger/results.ts';
import type { Databases } from '../ledger/tables.ts';
import type { ReadText } from '../outbound/resultObjects.ts';
import { isSettled } from './executionViews.ts';

export interface ResultsDeps extends Pick<Databases, 'views'> {
  readText: ReadText;
}

/** The address of a result's text. It cannot be guessed, because a result belongs to its caller. */
export function resultUrl(deps: { baseUrl(): string }, executionId: string, token: string): string {
  return `${deps.baseUrl()}/results/${executionId}/${token}`;
}

/** A result's text, and its hash (`sha256:` and hex). */
interface FoundResult {
  text: Buffer;
  hash: string;
}

/**
 * The UTF-8 bytes behind an `ipfs_url`; null unless the token is right and the result is paid for. Throws ApiError: 410
 * if it is no longer kept, 503 if its storage does not answer.
 */
export async function findResult(deps: ResultsDeps, executionId: string, token: string): Promise<FoundResult | null> {
  if (!parseUuid(executionId)) return null;
  const row = await deps.views
    .selectFrom('results')
    .innerJoin('executions as j', 'j.execution_id', 'results.execution_id')
    .leftJoin('chain.executions as c', 'c.execution_id', 'results.execution_id')
    .select(['results.token', 'results.result_hash'])
    .select(['j.state', 'j.content_deleted_ms', 'c.status as chain_status', 'c.result_hash as chain_hash'])
    .where('results.execution_id', '=', executionId)
    .executeTakeFirst();
  if (!row || !isSameSecret(row.token, token)) return null;
  if (!isSettled(row) || !isCommitted(row.result_hash, row.chain_hash)) return null;
  // Only now, so that guessing tokens never reads 5 MiB.
  const stored = row.content_deleted_ms === null ? await readStored(deps.views, executionId) : undefined;
  const text = stored && (await deps.readText(stored));
  if (text) return { text, hash: row.result_hash };
  throw lostResult(executionId);
}

/** True if our stored result matches the hash on the chain, or if the chain has none. */
export function isCommitted(storedHash: string, chainHash: string | null): boolean {
  return chainHash === null || storedHash === `sha256:${chainHash}`;
}

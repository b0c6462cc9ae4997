/**
 * Receipts of settled executions, for their callers to keep. The chain's record has the agreement and the payment. The
 * journal has the request and the signed result. It also has both transactions, if the index has only seen accounts.
 */
import type { Receipt } from '../../sdk/wire/receipt.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { ApiError, retryLater } from '../errors.ts';
import { lostResult } from '../execution/standing.ts';
import type { InParts } from '../json.ts';
import { signatureOf } from '../ledger/transactions.ts';
import { getExecution, type RecordsDeps } from './records.ts';

/** The index is only a moment behind the journal. */
const RETRY_AFTER_SECONDS = 1;

/**
 * GET /v1/executions/{execution_id}/receipt for its caller. Throws ApiError 404 for another caller's execution, 409 if
 * it is not settled, 410 if its result is lost. After a deletion of the content, the receipt has only hashes and
 * signatures.
 */
export async function getReceipt(deps: RecordsDeps, wallet: string, executionId: string): Promise<InParts<Receipt>> {
  const { value: execution, parts } = await getExecution(deps, wallet, executionId);
  const { status, result, result_hash, signature, completed_at, content_deleted_at: deletedAt } = execution;
  if (status !== 'completed' && status !== 'disputed') {
    const isOver = status === 'failed';
    const message = isOver
      ? 'The call failed, so it has no receipt'
      : 'The call is not settled yet, so it has no receipt. Read it again later.';
    throw new ApiError('not_settled', message, { executionId, details: { status } });
  }
  if ((result === null && deletedAt === null) || result_hash === null || signature === null) {
    throw lostResult(executionId);
  }
  const [record, journal, chain] = await Promise.all([
    deps.views.selectFrom('chain.executions').selectAll().where('execution_id', '=', executionId).executeTakeFirst(),
    deps.views
      .selectFrom('executions')
      .select(['task', 'parameters', 'platform_amount'])
      .select([signatureOf('open').as('open_signature'), signatureOf('settle').as('settle_signature')])
      .where('execution_id', '=', executionId)
      .executeTakeFirst(),
    deps.views.selectFrom('chain.chain_meta').selectAll().executeTakeFirst(),
  ]);
  if (!record || !chain || completed_at === null) {
    throw retryLater('The index has not reached this call yet.', RETRY_AFTER_SECONDS, executionId);
  }
  // The program waives a record's fee if the treasury cannot receive it. The journal shows that first.
  const isWaived = record.status === 'open' && journal?.platform_amount === 0n;
  const hasRequest = journal !== undefined && deletedAt === null;
  const receipt: Receipt = {
    version: 1,
    program_id: chain.program_id,
    genesis_hash: chain.genesis_hash,
    execution_id: executionId,
    record: record.record,
    agent_id: record.listing,
    caller: record.caller,
    signing_key: record.signing_key,
    request_hash: record.request_hash,
    ...(hasRequest && { task: journal.task, parameters: {} }),
    ...(result !== null && { result }),
    result_hash,
    signature,
    execution_signature: execution.execution_signature,
    price_usdc: toUsdc(record.price),
    fee_bps: isWaived ? 0 : Number(record.fee_bps),
    opened_at: execution.initiated_at,
    settled_at: completed_at,
    transactions: {
      open: record.open_signature ?? journal?.open_signature ?? null,
      settle: record.end_signature ?? journal?.settle_signature ?? null,
    },
    archive: execution.archive,
  };
  const { result: text } = parts;
  return {
    value: receipt,
    parts: { ...(text && { result: text }), ...(hasRequest && { parameters: journal.parameters }) },
  };
}

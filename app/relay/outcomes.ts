/**
 * What a call is answered: its outcome as JSON, and of a call that may be repeated the very bytes, so that the first and
 * all later ones are given the same.
 */
import { toUsdc } from '../sdk/usdc.ts';
import { ERRORS, type ErrorCode, ExecuteAccepted, ExecuteCompleted, errorBodyOf } from '../sdk/wire.ts';
import type { ExecuteOutcome, RelayDeps } from './deps.ts';
import { ApiError } from './errors.ts';
import { findAnswer, keepIfEnded, type Repeatable } from './execution/idempotency.ts';
import { resultUrl } from './executions.ts';
import { transactionUrl } from './explorer.ts';
import { errorBody, renderJson } from './respond.ts';
import type { Given, Reply } from './router.ts';

/** When an outcome that is not known yet is worth asking for again. */
const ASK_AGAIN_SECONDS = 1;
/** How an execution can end that is not completed. */
const FAILURES: readonly ErrorCode[] = ['execution_timeout', 'execution_failed', 'service_unavailable'];

/** An outcome as its answer. */
export function replyOf(deps: RelayDeps, outcome: ExecuteOutcome): Reply<'executeAgent'> {
  const { executionId } = outcome;
  if (outcome.kind === 'pending') return { status: 200, value: { execution_id: executionId, status: 'pending' } };
  if (outcome.kind === 'running') {
    const headers = { 'Retry-After': String(ASK_AGAIN_SECONDS) };
    return { status: 202, value: { execution_id: executionId, status: 'running' }, headers };
  }
  return {
    status: 200,
    value: {
      execution_id: executionId,
      status: 'completed',
      result: outcome.result,
      result_hash: outcome.resultHash,
      cost_usdc: toUsdc(outcome.price),
      tokens_used: outcome.tokensUsed,
      execution_time_ms: outcome.executionTimeMs,
      on_chain_record: transactionUrl(deps, outcome.settleSignature),
      ipfs_url: resultUrl(deps, executionId, outcome.resultToken),
    },
  };
}

/** The answer of the request that came first, byte for byte; null where there was none. */
export async function answerKnown(deps: RelayDeps, request: Repeatable): Promise<Given | null> {
  const { executionId } = request;
  const outcome = async () =>
    request.async ? ({ kind: 'pending', executionId } as const) : deps.engine.outcomeOf(executionId);
  const known = await findAnswer(deps, request, () => makeAnswer(deps, outcome));
  return known && { status: known.status, given: known.body, headers: { 'Idempotent-Replayed': 'true' } };
}

/** Answers the request that came first, so that a repeated one can be answered the same. */
export async function answerFirst(
  deps: RelayDeps,
  { executionId }: Repeatable,
  run: () => Promise<ExecuteOutcome>,
): Promise<Given> {
  const made = await makeAnswer(deps, run);
  const { status, body } = await keepIfEnded(deps, executionId, made);
  return { status, given: body, headers: made.headers };
}

/** An answer in bytes. Throws what says nothing about the end of an execution. */
async function makeAnswer(deps: RelayDeps, run: () => Promise<ExecuteOutcome>) {
  try {
    const { status, value, headers = {} } = replyOf(deps, await run());
    const schema = value.status === 'completed' ? ExecuteCompleted : ExecuteAccepted;
    return { status, body: renderJson(schema, value), headers, isFinal: status === 200 };
  } catch (error) {
    if (!(error instanceof ApiError) || error.executionId === null || !FAILURES.includes(error.code)) throw error;
    const { status } = ERRORS[error.code as ErrorCode];
    const wait = error.retryAfterSeconds;
    const headers: Record<string, string> = wait === undefined ? {} : { 'Retry-After': String(wait) };
    return { status, body: renderJson(errorBodyOf(error.code), errorBody(error)), headers, isFinal: true };
  }
}

/**
 * What a call is answered: its outcome as JSON, and of a call that may be repeated the very bytes, so that the first and
 * all later ones are given the same.
 */
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { ERRORS, type ErrorCode, ExecuteAccepted, ExecuteCompleted, errorBodyOf } from '../../sdk/wire/wire.ts';
import { transactionUrl } from '../chain/explorer.ts';
import type { ExecuteOutcome, RelayDeps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { errorBody, renderJson } from '../http/respond.ts';
import type { Given, Reply } from '../http/router.ts';
import { findAnswer, type KeptAnswer, keepIfEnded, type MadeAnswer, type Repeatable } from './idempotency.ts';
import { resultUrl } from './records.ts';

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

/** What a request that came before is answered; null where it did not, or never paid. */
export async function answerKnown(deps: RelayDeps, request: Repeatable): Promise<Given | null> {
  const { executionId } = request;
  const known = await findAnswer(deps, request, () => makeAnswer(deps, () => deps.engine.outcomeOf(executionId)));
  if (!known) return null;
  const answer =
    known.kind === 'ended' ? known.answer : await makeAnswer(deps, async () => ({ kind: 'pending', executionId }));
  return givenOf(answer, { 'Idempotent-Replayed': 'true' });
}

/** Answers the request that came first, so that a repeated one can be answered the same. */
export async function answerFirst(
  deps: RelayDeps,
  { executionId }: Repeatable,
  run: () => Promise<ExecuteOutcome>,
): Promise<Given> {
  return givenOf(await keepIfEnded(deps, executionId, await makeAnswer(deps, run)));
}

function givenOf(answer: KeptAnswer | MadeAnswer, headers: Record<string, string> = {}): Given {
  const own = 'headers' in answer ? answer.headers : {};
  return { status: answer.status, given: answer.body, headers: { ...own, ...headers } };
}

/** An answer in bytes. Throws what says nothing about the end of an execution. */
async function makeAnswer(deps: RelayDeps, run: () => Promise<ExecuteOutcome>): Promise<MadeAnswer> {
  try {
    const { status, value, headers = {} } = replyOf(deps, await run());
    const isFinal = value.status === 'completed';
    return { status, body: renderJson(isFinal ? ExecuteCompleted : ExecuteAccepted, value), headers, isFinal };
  } catch (error) {
    if (!(error instanceof ApiError) || error.executionId === null || !FAILURES.includes(error.code)) throw error;
    const { status } = ERRORS[error.code as ErrorCode];
    const wait = error.retryAfterSeconds;
    const headers: Record<string, string> = wait === undefined ? {} : { 'Retry-After': String(wait) };
    return { status, body: renderJson(errorBodyOf(error.code), errorBody(error)), headers, isFinal: true };
  }
}

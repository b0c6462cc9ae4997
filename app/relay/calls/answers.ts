/**
 * Builds the answer of a call: the JSON bytes of its outcome. The outcome of an ended call follows from the journal, so
 * the first and all later requests get the same bytes.
 */
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { ERRORS, type ErrorCode, ExecuteAccepted, ExecuteCompleted, errorBodyOf } from '../../sdk/wire/wire.ts';
import { ApiError, errorBody } from '../errors.ts';
import type { Engine, ExecuteOutcome } from '../execution/contract.ts';
import { transactionUrl } from '../explorer.ts';
import { quoteText, renderJson, renderParts } from '../json.ts';
import type { Databases } from '../ledger/tables.ts';
import type { Body } from '../longBytes.ts';
import type { Repeatable } from './idempotency.ts';
import { decideRepeat } from './repeats.ts';
import { resultUrl } from './results.ts';

/** Retry delay for an outcome that is not known yet. */
const ASK_AGAIN_SECONDS = 1;
/** The errors that can end an execution. */
const FAILURES: readonly ErrorCode[] = ['execution_timeout', 'execution_failed', 'service_unavailable'];

export interface AnswersDeps extends Pick<Databases, 'ledger'> {
  engine: Pick<Engine, 'outcomeOf'>;
  explorerQuery: string;
  /** Public address without a trailing slash. */
  baseUrl(): string;
}

/** An answer as it is sent. */
export interface CallAnswer {
  status: number;
  body: Body;
  headers: Record<string, string>;
}

/** Answers a first request. Throws what `run` throws. */
export async function answerCall(deps: AnswersDeps, run: () => Promise<ExecuteOutcome>): Promise<CallAnswer> {
  return writeOutcome(deps, await run());
}

/**
 * Answers a repeated request; null for a first request, or if its call was never paid. Throws like `decideRepeat`, and
 * errors that say nothing about the end of the call.
 */
export async function answerKnown(deps: AnswersDeps, request: Repeatable): Promise<CallAnswer | null> {
  const { executionId, wallet } = request;
  const decision = await decideRepeat(deps, request);
  if (decision === 'run') return null;
  const known =
    decision === 'pending'
      ? await writeOutcome(deps, { kind: 'pending', executionId })
      : await deps.engine.outcomeOf(executionId).then((outcome) => writeOutcome(deps, outcome, wallet), answerFailure);
  return { ...known, headers: { ...known.headers, 'Idempotent-Replayed': 'true' } };
}

function answerFailure(error: unknown): CallAnswer {
  if (!(error instanceof ApiError) || error.executionId === null || !FAILURES.includes(error.code)) throw error;
  return answerError(error);
}

/** The error as the HTTP layer answers it. */
export function answerError(error: ApiError): CallAnswer {
  const { code, retryAfterSeconds: wait } = error as ApiError<ErrorCode>;
  const headers: Record<string, string> = wait === undefined ? {} : { 'Retry-After': String(wait) };
  return { status: ERRORS[code].status, body: [renderJson(errorBodyOf(code), errorBody(error))], headers };
}

/** `reader` reads a stored result. */
async function writeOutcome(deps: AnswersDeps, outcome: ExecuteOutcome, reader?: string): Promise<CallAnswer> {
  const { executionId } = outcome;
  if (outcome.kind === 'pending') {
    const body = renderJson(ExecuteAccepted, { execution_id: executionId, status: 'pending' });
    return { status: 200, body: [body], headers: {} };
  }
  if (outcome.kind === 'running') {
    const body = renderJson(ExecuteAccepted, { execution_id: executionId, status: 'running' });
    return { status: 202, body: [body], headers: { 'Retry-After': String(ASK_AGAIN_SECONDS) } };
  }
  const completed = {
    execution_id: executionId,
    status: 'completed' as const,
    result: '',
    result_hash: outcome.resultHash,
    cost_usdc: toUsdc(outcome.price),
    tokens_used: outcome.tokensUsed,
    execution_time_ms: outcome.executionTimeMs,
    on_chain_record: transactionUrl(deps, outcome.settleSignature),
    ipfs_url: resultUrl(deps, executionId, outcome.resultToken),
  };
  const result = await quoteText(outcome.result, reader);
  return { status: 200, body: renderParts(ExecuteCompleted, completed, { result }), headers: {} };
}

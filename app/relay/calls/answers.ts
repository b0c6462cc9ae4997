/**
 * Builds the answer of a call: the JSON bytes of its outcome, rendered once by the answer's schema. The first and all
 * later requests therefore get the same bytes.
 */
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { ERRORS, type ErrorCode, ExecuteAccepted, ExecuteCompleted, errorBodyOf } from '../../sdk/wire/wire.ts';
import { ApiError, errorBody } from '../errors.ts';
import type { Engine, ExecuteOutcome } from '../execution/contract.ts';
import { transactionUrl } from '../explorer.ts';
import { quoteText, renderJson, renderParts } from '../json.ts';
import type { Body } from '../longBytes.ts';
import type { Repeatable } from './idempotency.ts';
import { type KeptAnswer, type KeptAnswersDeps, keepIfEnded, readKept } from './keptAnswers.ts';
import { decideRepeat } from './repeats.ts';
import { resultUrl } from './results.ts';

/** Retry delay for an outcome that is not known yet. */
const ASK_AGAIN_SECONDS = 1;
/** The errors that can end an execution. */
const FAILURES: readonly ErrorCode[] = ['execution_timeout', 'execution_failed', 'service_unavailable'];

export interface AnswersDeps extends KeptAnswersDeps {
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

/** A new answer. `isFinal` if it says how the execution ended. */
interface MadeAnswer extends CallAnswer, KeptAnswer {
  executionId: string;
  isFinal: boolean;
}

/** Answers a call that cannot be repeated. Throws what `run` throws. */
export async function answerOnce(deps: AnswersDeps, run: () => Promise<ExecuteOutcome>): Promise<CallAnswer> {
  return writeOutcome(deps, await run());
}

/** Answers the first request, and keeps the answer for repeats. */
export async function answerFirst(deps: AnswersDeps, run: () => Promise<ExecuteOutcome>): Promise<CallAnswer> {
  return toAnswer(await makeAndKeep(deps, run));
}

/**
 * Answers a repeated request; null for a first request, or if its call was never paid. Throws like `decideRepeat`.
 */
export async function answerKnown(deps: AnswersDeps, request: Repeatable): Promise<CallAnswer | null> {
  const { executionId, wallet } = request;
  const answer = await decideRepeat(deps, request);
  if (answer === 'run') return null;
  const known =
    answer === 'pending'
      ? await writeOutcome(deps, { kind: 'pending', executionId })
      : ((await readKept(deps, executionId, wallet)) ??
        (await makeAndKeep(deps, () => deps.engine.outcomeOf(executionId))));
  return toAnswer(known, { 'Idempotent-Replayed': 'true' });
}

async function makeAndKeep(deps: AnswersDeps, run: () => Promise<ExecuteOutcome>): Promise<KeptAnswer | MadeAnswer> {
  const answer = await makeAnswer(deps, run);
  return answer.isFinal ? keepIfEnded(deps, answer.executionId, answer) : answer;
}

/** The answer to an outcome, or to the error that ended an execution. Throws errors that say nothing about its end. */
async function makeAnswer(deps: AnswersDeps, run: () => Promise<ExecuteOutcome>): Promise<MadeAnswer> {
  try {
    const outcome = await run();
    const { executionId, kind } = outcome;
    return { ...(await writeOutcome(deps, outcome)), executionId, isFinal: kind === 'completed' };
  } catch (error) {
    if (!(error instanceof ApiError) || error.executionId === null || !FAILURES.includes(error.code)) throw error;
    const { status } = ERRORS[error.code as ErrorCode];
    const wait = error.retryAfterSeconds;
    const headers: Record<string, string> = wait === undefined ? {} : { 'Retry-After': String(wait) };
    const body = [renderJson(errorBodyOf(error.code), errorBody(error))];
    return { status, body, headers, executionId: error.executionId, isFinal: true };
  }
}

async function writeOutcome(deps: AnswersDeps, outcome: ExecuteOutcome): Promise<CallAnswer & KeptAnswer> {
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
  const result = await quoteText(outcome.result);
  return { status: 200, body: renderParts(ExecuteCompleted, completed, { result }), headers: {}, result };
}

function toAnswer(answer: KeptAnswer | CallAnswer, headers: Record<string, string> = {}): CallAnswer {
  const own = 'headers' in answer ? answer.headers : {};
  return { status: answer.status, body: answer.body, headers: { ...own, ...headers } };
}

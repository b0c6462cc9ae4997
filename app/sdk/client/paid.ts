/** A paid call from its request to its end. */
import { parseUsdc } from '../wire/usdc.ts';
import { type ApiRequest, type Client, type RequestOptions, readAs, withKey } from './client.ts';
import { MarketplaceError, statusError, WaitTimeoutError } from './error.ts';
import { retryAfterOf } from './http.ts';
import { anyOf, startTimer } from './limit.ts';
import { isEarlyRefusal, sleep } from './repeat.ts';
import type { OnDelta } from './streamed.ts';
import type { CompletedExecution, Execution, StartedExecution } from './types.ts';

/** The agent's input. */
export interface RunInput {
  /** The instruction, free text. */
  task: string;
  /** Structured input that matches the agent's `input_schema`. Default: none. */
  parameters?: Record<string, unknown> | undefined;
}

export interface CallOptions extends RequestOptions {
  /**
   * Maximum cost of the call, USDC: a number, or text such as `'0.25'`. If the price is higher, the marketplace answers
   * `price_changed` and opens no escrow. The chain itself enforces only the limits of your API key.
   */
  maxCostUsdc?: number | string | undefined;
  /** How long the agent may take, whole seconds; then the price is refunded. Default: the listing's timeout. */
  timeoutSeconds?: number | undefined;
  /** 1 to 255 visible ASCII characters. Default: random. Choose the key yourself to retry a call after a crash. */
  idempotencyKey?: string | null | undefined;
}

export interface RunOptions extends CallOptions, WaitOptions {
  /**
   * Called with the output as the agent writes it, if the agent streams. It must not throw. The output is not verified:
   * only the result is signed and paid. After a lost connection only the result arrives.
   */
  onDelta?: OnDelta | undefined;
}

export interface WaitOptions extends RequestOptions {
  /** How long to wait, ms. `Infinity` waits until the end. Default: 600,000. */
  timeout?: number | undefined;
}

/** Default of `timeout`. */
export const WAIT_MS = 600_000;
/** Pauses between two polls of an execution. Each is 1.5 times the last one. */
const FIRST_POLL_MS = 250;
const LONGEST_POLL_MS = 5_000;
/** Longest search for the id of a call whose time is over. */
const FIND_MS = 5_000;

/** The request of a paid call. */
export function executeRequest(
  agentId: string,
  input: RunInput,
  options: CallOptions & Pick<RunOptions, 'onDelta'>,
  isAsync: boolean,
): ApiRequest {
  const { maxCostUsdc, timeoutSeconds, signal, onDelta } = options;
  requireInput(input);
  const body = {
    task: input.task,
    parameters: input.parameters,
    async: isAsync || undefined,
    stream: onDelta ? true : undefined,
    timeout_seconds: timeoutSeconds,
    max_cost_usdc: maxCostUsdc === undefined ? undefined : toJsonUsdc(maxCostUsdc),
  };
  const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
  return { route: 'executeAgent', input: { agent_id: agentId, body }, idempotencyKey, signal, onDelta };
}

/** Throws TypeError for a field that would not be sent: a limit such as `max_cost_usdc` would be ignored. */
function requireInput(input: RunInput): void {
  const unknown = Object.keys(input).find((name) => name !== 'task' && name !== 'parameters');
  if (unknown === undefined) return;
  const advice = 'Limits such as maxCostUsdc and timeoutSeconds are options, the next argument.';
  throw new TypeError(`The input has task and parameters only, not ${unknown}. ${advice}`);
}

/** Returns once the execution has started. A repeat of a call that has ended returns its result. */
export function startCall(client: Client, request: ApiRequest): Promise<CompletedExecution | StartedExecution> {
  return withKey(request, async () => readAs('executeAgent', await client.ask(request)));
}

/** Returns the result. Throws the error of a failed execution, or WaitTimeoutError. */
export async function runCall(
  client: Client,
  request: ApiRequest,
  { timeout = WAIT_MS, signal }: WaitOptions,
): Promise<CompletedExecution> {
  const deadline = startDeadline(timeout, signal);
  let executionId: string | null = null;
  const onExecution = (id: string) => {
    executionId = id;
  };
  try {
    const answer = await client.ask({ ...request, signal: deadline.signal, onExecution });
    const outcome = readAs('executeAgent', answer);
    if (outcome.status === 'completed') return outcome;
    executionId = outcome.execution_id;
    const firstPause = (retryAfterOf(answer.response) ?? 0) * 1_000;
    return completed(await untilEnded(client, executionId, deadline.signal, firstPause));
  } catch (error) {
    const isLate = deadline.isOver();
    if (isLate) executionId ??= await findByKey(client, request, signal);
    throw errorOfCall(error, executionId, isLate);
  } finally {
    deadline.clear();
  }
}

/** The id of the execution of a call by its key; null if there is none, or no answer in time. */
async function findByKey(client: Client, { idempotencyKey }: ApiRequest, signal?: AbortSignal) {
  const deadline = startDeadline(FIND_MS, signal);
  const filter = { limit: 1, ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }) };
  try {
    const { executions } = await client.request('listExecutions', filter, { signal: deadline.signal });
    return executions[0]?.execution_id ?? null;
  } catch {
    return null;
  } finally {
    deadline.clear();
  }
}

/** The record of an execution once it has ended, also if it failed. Throws WaitTimeoutError. */
export async function waitForEnd(
  client: Client,
  executionId: string,
  { timeout = WAIT_MS, signal }: WaitOptions,
): Promise<Execution> {
  const deadline = startDeadline(timeout, signal);
  try {
    return await untilEnded(client, executionId, deadline.signal, 0);
  } catch (error) {
    throw deadline.isOver() ? tooLate(executionId) : error;
  } finally {
    deadline.clear();
  }
}

async function untilEnded(client: Client, id: string, signal: AbortSignal, firstPauseMs: number): Promise<Execution> {
  let next = FIRST_POLL_MS;
  for (let pause = firstPauseMs; ; pause = next, next = Math.min(next * 1.5, LONGEST_POLL_MS)) {
    await sleep(pause, signal);
    const execution = await client.request('getExecution', { execution_id: id }, { signal });
    if (execution.status !== 'pending' && execution.status !== 'running') return execution;
  }
}

/** Aborts with the caller's signal, or after `timeout` ms. */
export function startDeadline(timeout: number, signal: AbortSignal | undefined) {
  const own = new AbortController();
  const timer = startTimer(timeout, () => own.abort());
  return {
    signal: anyOf(signal, own.signal),
    isOver: () => own.signal.aborted && !signal?.aborted,
    clear: () => clearTimeout(timer),
  };
}

/** What a call throws for `error`, with the id of its execution if it is known. */
export function errorOfCall(error: unknown, executionId: string | null, isLate: boolean): unknown {
  const known = isLate ? tooLate(executionId) : runningIfRefused(executionId, error);
  if (known instanceof MarketplaceError) known.executionId ??= executionId;
  return known;
}

function tooLate(executionId: string | null): WaitTimeoutError {
  const message =
    executionId === null
      ? 'The timeout passed before the outcome of the call was known. Retry the call with its idempotency key.'
      : `The execution ${executionId} is still running after the timeout. Wait again.`;
  return new WaitTimeoutError(null, 'wait_timeout', message, executionId);
}

/** For the refusal of a poll, the error that the execution continues; else the error itself. */
function runningIfRefused(executionId: string | null, error: unknown): unknown {
  if (executionId === null || !isEarlyRefusal(error)) return error;
  const { message, requestId, retryAfterSeconds } = error;
  const text = `The execution ${executionId} is in progress, and the request for its outcome was refused: ${message}`;
  const cause = { cause: error };
  return statusError(null, 'request_in_progress', text, executionId, requestId, null, retryAfterSeconds, cause);
}

/** An ended execution as `run` returns it. Throws its error if it failed. */
function completed(execution: Execution): CompletedExecution {
  const { execution_id, error, result, result_hash, cost_usdc, tokens_used, execution_time_ms } = execution;
  if (error) throw statusError(null, error.code, error.message, execution_id);
  if (result === null || result_hash === null) {
    const message = 'The execution was completed and paid, but the service no longer has its result.';
    throw statusError(null, 'result_unavailable', message, execution_id);
  }
  const { on_chain_record, ipfs_url } = execution;
  const paid = { execution_id, status: 'completed' as const, result, result_hash, cost_usdc };
  return { ...paid, tokens_used, execution_time_ms, on_chain_record, ipfs_url };
}

/** The amount as a JSON number. Throws RangeError if it is not a USDC amount or has too many digits. */
function toJsonUsdc(amount: number | string): number {
  const number = Number(amount);
  if (parseUsdc(amount) !== parseUsdc(number)) {
    throw new RangeError(`USDC amount has too many digits for a JSON number: ${amount}`);
  }
  return number;
}
